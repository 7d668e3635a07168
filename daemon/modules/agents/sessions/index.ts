import { HOUR_MS } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import type { Route } from '../../../http/route.ts';
import type { Agent, Agents } from '../definitions/agent.ts';
import { EventLog } from '../events/log.ts';
import { EventStore } from '../events/store.ts';
import { spawnRoutes } from '../spawn/routes.ts';
import { SpawnService } from '../spawn/service.ts';
import { SpawnStore } from '../spawn/store.ts';
import { spawnTools } from '../spawn/tools.ts';
import type { TurnParts } from '../turns/parts.ts';
import { TurnRunner } from '../turns/runner.ts';
import { TurnStore } from '../turns/store.ts';
import { sessionRoutes } from './routes.ts';
import { SessionService } from './service.ts';
import { SessionStore } from './store.ts';
import { Streaming } from './streaming.ts';
import type { SessionRow } from './tables.ts';
import { TurnService } from './turn-service.ts';

const PRUNED_AT_ONCE = 5;
const PRUNE_PAUSE_MS = 50;

/** What sessions take from the other rooms. */
export type SessionsNeeds = Omit<TurnParts, 'app' | 'log' | 'sessions' | 'store'> & {
  readonly agents: Agents;
  /** Clears what a session has had that is over. */
  readonly clear: (tenant: string, agent: Agent, sessionId: string) => Promise<void>;
  /** Errors: feature_off when a tenant has switched agents off. */
  readonly allow: (tenant: string) => void;
};

/** Sessions, their turns and the trees of agents. */
export interface SessionsRoom {
  readonly routes: readonly Route[];
  readonly sessions: SessionService;
  readonly turns: TurnService;
  /** Goes on with the turns that a former process has left. */
  start(): void;
  /** Waits at most so many milliseconds for tools; what they say later is not written. */
  stop(graceMs?: number): Promise<void>;
}

/** Makes the room of sessions. */
export function createSessionsRoom(app: App, needs: SessionsNeeds): SessionsRoom {
  const { agents, reviews } = needs;
  const sessions = new SessionStore(app.db);
  const store = new TurnStore(app.db);
  const log = new EventLog(app.db, new EventStore(app.db), app.clock);
  const ended = ({ tenant, agent, id }: SessionRow) =>
    void needs
      .clear(tenant, agent, id)
      .catch((error) => app.log.warn('what a session has left could not be cleared', { session: id, error }));
  const spawns = new SpawnService({
    app,
    agents,
    log,
    sessions,
    store: new SpawnStore(app.db),
    turns: () => turns,
    ended,
  });
  const sources = [...needs.sources, spawnTools(spawns)];
  const runner = new TurnRunner({ ...needs, app, log, sessions, store, sources }, (tenant, sessionId) => {
    spawns.turnOver(tenant, sessionId);
    turns.startNext(tenant, sessionId);
  });
  const turns: TurnService = new TurnService({
    app,
    log,
    sessions,
    turns: store,
    reviews,
    runner,
    ended,
    allow: needs.allow,
    spawns: () => spawns,
  });
  const service = new SessionService(app, agents, sessions, turns);
  const streaming = new Streaming(log, sessions);
  return {
    routes: [
      ...sessionRoutes({ sessions: service, turns, streaming, store: sessions, calls: store, log }),
      ...spawnRoutes(spawns),
    ],
    sessions: service,
    turns,
    start() {
      reviews.onSettled((review) => runner.settled(review));
      app.jobs.every('agents.prune', HOUR_MS, () => prune(app, sessions));
      takeUp(app, { sessions, store, runner, reviews, turns });
      spawns.reconcile();
    },
    stop: (graceMs) => runner.stop(graceMs),
  };
}

/** Removes old sessions, a few at a time: one may hold many thousand events. */
async function prune({ config, clock }: App, sessions: SessionStore): Promise<void> {
  const keptMs = config.get('agents.retention');
  if (keptMs === 0) return;
  while (sessions.prune(clock.now() - keptMs, PRUNED_AT_ONCE) === PRUNED_AT_ONCE)
    await Bun.sleep(PRUNE_PAUSE_MS);
}

interface TakeUpParts {
  readonly sessions: SessionStore;
  readonly store: TurnStore;
  readonly runner: TurnRunner;
  readonly reviews: TurnParts['reviews'];
  readonly turns: TurnService;
}

/** Goes on where a former process has ended: turns that ran, reviews that were decided meanwhile, turns that waited in line. */
function takeUp({ log }: App, { sessions, store, runner, reviews, turns }: TakeUpParts): void {
  const open = sessions.openTurns();
  for (const { tenant, sessionId, number, iteration, status } of open) {
    if (status === 'running') runner.wake(tenant, sessionId);
    if (status === 'queued') turns.startNext(tenant, sessionId);
    if (status !== 'waiting') continue;
    const calls = store.callsOf(tenant, sessionId, number, iteration);
    const reviewId = calls.find(({ state }) => state === 'reviewed')?.reviewId;
    const review = reviewId ? reviews.find(tenant, reviewId) : undefined;
    if (review && review.status !== 'pending') runner.settled(review);
  }
  if (open.length > 0) log.info('turns are taken up', { turns: open.length });
}
