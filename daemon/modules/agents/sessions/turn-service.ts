import { fail, invalid } from '../../../../src/errors/app-error.ts';
import type { App } from '../../../app.ts';
import type { Caller } from '../../../http/route.ts';
import type { EventLog } from '../events/log.ts';
import type { Reviews } from '../reviews/face.ts';
import type { SpawnService } from '../spawn/service.ts';
import { endEvent } from '../turns/calls/events.ts';
import { estimateMessage } from '../turns/compaction/index.ts';
import type { TurnRunner } from '../turns/runner.ts';
import type { TurnStore } from '../turns/store.ts';
import { keyOf, type NewTurn, newTurn } from './new-session.ts';
import type { SessionStore } from './store.ts';
import type { SessionRow, TurnRow } from './tables.ts';
import { turnWire } from './wire.ts';

const MOST_QUEUED = 16;
/** Turns of one session, where its agent sets no limit. */
const MOST_TURNS = 1_000;
const MOST_INPUT = 1024 * 1024;

/** What turns are begun and ended with. */
export interface TurnServiceParts {
  readonly app: Pick<App, 'clock'>;
  readonly log: EventLog;
  readonly sessions: SessionStore;
  readonly turns: TurnStore;
  readonly reviews: Reviews;
  readonly runner: TurnRunner;
  /** Told of a session that is over for good, after its commit. */
  readonly ended: (session: SessionRow) => void;
  /** Errors: feature_off when a tenant has switched agents off. */
  readonly allow: (tenant: string) => void;
  /** Trees of agents: ends what is below a session, and tells what is above it. In the caller's commit. */
  readonly spawns: () => Pick<SpawnService, 'endBelow' | 'cancelled'>;
}

/** Where a turn of a request begins. */
export interface Begun {
  readonly turn: TurnRow;
  /** The session's latest event before it. */
  readonly after: number;
}

/** Begins turns, answers their questions and ends them from outside. */
export class TurnService {
  constructor(private readonly parts: TurnServiceParts) {}

  /**
   * Begins a turn; a session that waits for an answer goes on with the turn that has asked. It is on the disk when this
   * returns, and goes on whoever leaves. Errors: invalid_argument; failed_precondition (the session is over, its turns are used
   * up); busy (code 10) when one is under way and `queue` is not set; resource_exhausted.
   */
  begin(caller: Caller, session: SessionRow, wish: NewTurn): Begun {
    this.parts.allow(session.tenant);
    checkInput(wish.userInput);
    const begun = this.begunBefore(caller, session, wish);
    if (begun) return begun;
    refuseOver(session);
    const { log, sessions } = this.parts;
    const after = log.store.latest(session.id);
    const current = sessions.current(session.tenant, session.id);
    const { userInput, userInputId } = wish;
    const answers = session.status === 'waiting_for_input' || userInputId !== undefined;
    if (answers && this.answer(session, userInput, userInputId) && current) return { turn: current, after };
    const queued = sessions.queued(session.tenant, session.id).length;
    if (current && !wish.queue) throw fail('busy', { message: busyWords(session, current) });
    if (queued >= MOST_QUEUED)
      throw fail('resource_exhausted', { message: `${MOST_QUEUED} turns of this session wait already.` });
    const number = session.turnCount + 1;
    refuseBeyond(session, number);
    const turn = newTurn(caller, session.id, number, wish, this.parts.app.clock.now());
    log.commit(() => {
      sessions.insertTurn(turn);
      sessions.change(session.tenant, session.id, { turnCount: number });
      if (!current && queued === 0) this.start(session, turn);
    });
    this.parts.runner.wake(session.tenant, session.id);
    return { turn, after };
  }

  /** Errors: feature_off when a tenant has switched agents off. */
  allow(tenant: string): void {
    this.parts.allow(tenant);
  }

  /** Begins the next turn that waits, when none is under way. */
  startNext(tenant: string, sessionId: string): void {
    const { log, sessions, runner } = this.parts;
    const session = sessions.find(tenant, sessionId);
    const [next] = sessions.queued(tenant, sessionId);
    if (!session || !next || sessions.current(tenant, sessionId)) return;
    log.commit(() => this.start(session, next));
    runner.wake(tenant, sessionId);
  }

  /**
   * Answers the question that a session waits with. Answers false when it asks nothing. Errors: failed_precondition when another
   * question is meant than the one that waits.
   */
  answer(session: SessionRow, words: string, userInputId?: string): boolean {
    const { log, sessions, turns, runner, app } = this.parts;
    const { tenant, id: sessionId } = session;
    const answered = log.commit(() => {
      const turn = sessions.current(tenant, sessionId);
      const calls = turn ? turns.callsOf(tenant, sessionId, turn.number, turn.iteration) : [];
      const asking = calls.find(({ state }) => state === 'asking');
      if (userInputId !== undefined && asking?.id !== userInputId)
        throw fail('failed_precondition', {
          message: `The question ${userInputId} does not wait for an answer.`,
        });
      if (turn?.status !== 'waiting' || !asking) return false;
      const durationMs = app.clock.now() - (asking.startedAt ?? app.clock.now());
      const outcome = { ok: true, output: words };
      turns.changeCall(asking, ['asking'], { state: 'finished', ...outcome, durationMs });
      sessions.changeTurn(turn, ['waiting'], { status: 'running' });
      sessions.change(tenant, sessionId, { status: 'running', updatedAt: app.clock.now() });
      log.append(
        sessionId,
        turn.number,
        { type: 'user_input.received', userInputId: asking.id, toolCallId: asking.id },
        endEvent(asking, outcome, durationMs),
      );
      return true;
    });
    if (answered) runner.wake(tenant, sessionId);
    return answered;
  }

  /** Ends a session that has nothing under way. Errors: failed_precondition. */
  complete(session: SessionRow): void {
    const { log, sessions, app } = this.parts;
    log.commit(() => {
      const current = sessions.current(session.tenant, session.id);
      if (current)
        throw fail('failed_precondition', {
          message: `${busyWords(session, current)} Cancel the session, or wait for its end.`,
        });
      const now = app.clock.now();
      sessions.change(session.tenant, session.id, { status: 'completed', updatedAt: now, completedAt: now });
      log.append(session.id, session.turnCount, { type: 'session.end', finishReason: 'completed' });
    });
    this.parts.ended(session);
  }

  /** Ends a session and everything that it does: its turns, its calls, its reviews and its sub-agents. */
  cancel(session: SessionRow, why: string): void {
    const { log, sessions, app } = this.parts;
    log.commit(() => {
      const now = app.clock.now();
      for (const turn of this.openTurns(session)) this.endTurn(session, turn, why);
      sessions.change(session.tenant, session.id, { status: 'cancelled', updatedAt: now, completedAt: now });
      log.append(session.id, session.turnCount, { type: 'session.end', finishReason: 'cancelled' });
      this.parts.spawns().endBelow(session.tenant, session.id, why);
      this.parts.spawns().cancelled(session, why);
    });
    this.parts.runner.cancel(session.id);
    this.parts.ended(session);
  }

  /** Ends what a session does, and leaves it open for the next turn. Errors: failed_precondition when it does nothing. */
  interrupt(session: SessionRow, why: string): void {
    const { log, sessions, app } = this.parts;
    log.commit(() => {
      const open = this.openTurns(session);
      if (open.length === 0)
        throw fail('failed_precondition', { message: `No turn of the session ${session.id} is under way.` });
      for (const turn of open) this.endTurn(session, turn, why);
      sessions.change(session.tenant, session.id, { status: 'running', updatedAt: app.clock.now() });
      this.parts.spawns().endBelow(session.tenant, session.id, why);
    });
    this.parts.runner.cancel(session.id);
    // A turn that has waited was in nobody's hands: what follows from its end is done by the runner.
    this.parts.runner.wake(session.tenant, session.id);
  }

  /** The turn that the same request has begun. Errors: idempotency_mismatch when it is not the same. */
  private begunBefore(
    caller: Caller,
    { tenant, id }: SessionRow,
    { requestKey, userInput }: NewTurn,
  ): Begun | undefined {
    const { sessions, log } = this.parts;
    const turn =
      requestKey === undefined ? undefined : sessions.turnOfRequest(tenant, id, keyOf(caller, requestKey));
    if (!turn) return undefined;
    if (turn.userInput !== userInput) throw fail('idempotency_mismatch');
    return { turn, after: log.store.firstOfTurn(id, turn.number) - 1 };
  }

  private start(session: SessionRow, turn: TurnRow): void {
    const { log, sessions, turns, app } = this.parts;
    const message = { role: 'user' as const, content: turn.userInput };
    // What the model has counted last corrects the guesses of this turn, too.
    const { contextTokens = 0 } = sessions.turn(session.tenant, session.id, turn.number - 1) ?? {};
    sessions.changeTurn(turn, ['queued'], { status: 'running', contextTokens });
    sessions.change(session.tenant, session.id, { status: 'running', updatedAt: app.clock.now() });
    turns.addMessages(session.id, turn.number, [{ message, tokens: estimateMessage(message) }]);
    if (turn.number === 1) log.append(session.id, turn.number, { type: 'session.start' });
    const shown = turnWire({ ...turn, status: 'running' }, []);
    log.append(session.id, turn.number, { type: 'turn.start', turn: shown });
  }

  private openTurns({ tenant, id }: SessionRow): TurnRow[] {
    const current = this.parts.sessions.current(tenant, id);
    return [...(current ? [current] : []), ...this.parts.sessions.queued(tenant, id)];
  }

  private endTurn(session: SessionRow, turn: TurnRow, why: string): void {
    const { log, sessions, turns, reviews, runner, app } = this.parts;
    const over = { status: 'failed' as const, error: why, isAsking: false, completedAt: app.clock.now() };
    log.dropText(session.id);
    if (turn.status === 'waiting' && session.status === 'waiting_for_approval') {
      reviews.cancel(session.tenant, session.id);
      log.append(session.id, turn.number, { type: 'approval.cancelled', error: why });
    }
    if (turn.status !== 'queued') runner.endings.answerOpenCalls(turn, why);
    sessions.changeTurn(turn, [turn.status], over);
    const calls = turns.shownCalls(turn.tenant, session.id, turn.number);
    const shown = turnWire({ ...turn, ...over }, calls);
    log.append(session.id, turn.number, {
      type: 'turn.end',
      finishReason: 'cancelled',
      error: why,
      turn: shown,
    });
  }
}

function checkInput(userInput: string): void {
  if (userInput.trim() === '') throw invalid({ field: 'userInput', description: 'is required' });
  if (userInput.length > MOST_INPUT)
    throw invalid({ field: 'userInput', description: `is more than ${MOST_INPUT / 1024} KiB` });
}

function refuseOver({ id, status, depth }: SessionRow): void {
  if (status === 'completed' || status === 'cancelled')
    throw fail('failed_precondition', {
      message: `The session ${id} is ${status}. Open another one: POST /v1/agents/sessions.`,
    });
  if (depth > 0)
    throw fail('failed_precondition', {
      message: `The session ${id} belongs to a sub-agent: only the agent that started it speaks to it.`,
    });
}

function refuseBeyond({ id, agent }: SessionRow, number: number): void {
  const most = agent.maxTurns > 0 ? Math.min(agent.maxTurns, MOST_TURNS) : MOST_TURNS;
  if (number > most)
    throw fail('failed_precondition', {
      message: `The session ${id} has had its ${most} turns. Open another one: POST /v1/agents/sessions.`,
    });
}

function busyWords({ id, status }: SessionRow, { number }: TurnRow): string {
  const doing = status === 'waiting_for_approval' ? 'waits for approval' : 'is under way';
  return `Turn ${number} of the session ${id} ${doing}.`;
}
