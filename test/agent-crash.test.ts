import { expect, setDefaultTimeout, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readSettings } from '../daemon/db/settings.ts';
import { AgentClient, callsOf, type Told } from './support/agent-client.ts';
import { type Deed, deedsOf, diceOf, type Life, persist, Survivor } from './support/agent-survivor.ts';
import { startDaemon, type TestDaemon } from './support/daemon.ts';
import { driverCases } from './support/drivers.ts';
import { clientOf, run } from './support/scene.ts';
import { type ScriptedModel, startScriptedModel } from './support/scripted-model/index.ts';
import { NO_SANDBOXES } from './support/tenants/two-tenants.ts';
import { leftOf, NOTHING } from './support/traces.ts';

/** How often the daemon is killed, and how many sessions go on meanwhile. */
const KILLS = Number(process.env.SVC_TEST_AGENT_KILLS ?? 6);
const CROWD = Number(process.env.SVC_TEST_AGENT_CROWD ?? 6);
const SEED = Number(process.env.SVC_TEST_AGENT_SEED ?? Math.floor(Math.random() * 1e9));
/** A kill waits for its boundary no longer than this. */
const BOUNDARY_MS = 1_000;
const MOST_MS = 120_000 + KILLS * 6_000;

setDefaultTimeout(MOST_MS);

/** Where a turn is when the daemon is killed: right after somebody has seen this. */
const BOUNDARIES = [
  'turn.start',
  'llm.start',
  'llm.chunk',
  'llm.end',
  'tool_call.start',
  'tool_call.end',
  'approval.requested',
  'approval.resolved',
  'user_input.requested',
  'user_input.received',
  'turn.end',
  'sandbox.exec',
  'sandbox.result',
];

const driver = driverCases.find(({ name }) => name === 'namespace');

test('turns go on through kills of the daemon: each effect once, no approval and no event lost', async () => {
  console.log(`seed ${SEED}`);
  const world = await World.start();
  try {
    const lives = await world.live();
    const log = await world.commands(lives);
    const counts = await world.counts();
    for (const life of lives) check(life, counts, log);
    for (const life of lives) await world.checkReplay(life);
    expect(await world.violations()).toEqual([]);
    world.report(lives);
    expect(await world.left()).toEqual(NOTHING);
  } finally {
    await world.end();
  }
});

class World {
  private readonly dice = diceOf(SEED);
  private readonly kills: Record<string, number> = {};
  private readonly waiting = new Map<string, () => void>();
  private readonly begun = performance.now();
  private isOver = false;
  private lived = 0;

  private constructor(
    private readonly model: ScriptedModel,
    private daemon: TestDaemon,
    private readonly env: Readonly<Record<string, string>>,
  ) {}

  static async start(): Promise<World> {
    const model = await startScriptedModel();
    const env = { ...(driver?.env ?? NO_SANDBOXES), ...model.env, SVC_LOG_LEVEL: 'warn' };
    return new World(model, await startDaemon({ env }), env);
  }

  /** Lets sessions come and go while the daemon is killed. Answers what became of all of them. */
  async live(): Promise<Life[]> {
    const agents = this.agents();
    for (const name of ['effect', 'guarded']) await agents.effect(this.model.effectUrl, name);
    const tools = ['effect', 'guarded', 'ask_user', ...(driver ? ['sandbox_shell'] : [])];
    const config = { lifecycle: 'PERSISTENT', approval: { tools: ['guarded'], timeoutSeconds: 3600 } };
    const agentIds = await Promise.all([1, 2].map(() => agents.agent({ tools, config })));
    const lives: Life[] = [];
    const crowd = Array.from({ length: CROWD }, async (_, i) => {
      while (!this.isOver) lives.push(await this.liveOnce(agentIds[i % agentIds.length] ?? ''));
    });
    const killing = this.killAll();
    await Promise.all([...crowd, killing]);
    return lives;
  }

  private liveOnce(agentId: string): Promise<Life> {
    const key = `s${++this.lived}`;
    const deeds = deedsOf(key, this.dice, driver !== undefined);
    const seen = (type: string) => this.waiting.get(type)?.();
    return new Survivor(this.agents(), key, deeds, seen, this.dice).live(agentId);
  }

  private async killAll(): Promise<void> {
    try {
      for (let i = 0; i < KILLS; i++) {
        const boundary = i % 2 === 0 ? BOUNDARIES[(i / 2) % BOUNDARIES.length] : undefined;
        const when = boundary ? await this.untilSeen(boundary) : await this.anyMoment();
        this.kills[when] = (this.kills[when] ?? 0) + 1;
        await this.killOnce();
      }
    } finally {
      this.isOver = true;
    }
  }

  private async anyMoment(): Promise<string> {
    await Bun.sleep(this.dice(700));
    return 'any moment';
  }

  private untilSeen(boundary: string): Promise<string> {
    return new Promise((resolve) => {
      const end = (when: string) => {
        this.waiting.delete(boundary);
        clearTimeout(timer);
        resolve(when);
      };
      const timer = setTimeout(() => end('any moment'), BOUNDARY_MS);
      this.waiting.set(boundary, () => end(boundary));
    });
  }

  private async killOnce(): Promise<void> {
    const { dataDir, apiKey, url } = this.daemon;
    await this.daemon.kill9();
    const port = Number(new URL(url).port);
    this.daemon = await startDaemon({ dataDir, apiKey, env: this.env, port });
  }

  /** What all commands have written, by line. */
  async commands(lives: readonly Life[]): Promise<Map<string, number>> {
    const boxes = new Set(lives.flatMap(({ told }) => told.map(({ result }) => result?.sandboxId)));
    const lines = new Map<string, number>();
    for (const box of boxes) {
      if (!box) continue;
      const { stdout } = await run(clientOf(this.daemon), box, 'cat effects.log');
      for (const line of stdout.split('\n').filter(Boolean)) lines.set(line, (lines.get(line) ?? 0) + 1);
    }
    return lines;
  }

  async counts(): Promise<Map<string, number>> {
    const counts = new Map<string, number>();
    for (const { id } of await this.model.effects()) counts.set(id, (counts.get(id) ?? 0) + 1);
    return counts;
  }

  /** Somebody who comes later sees what was seen. */
  async checkReplay({ sessionId, told }: Life): Promise<void> {
    const again = await persist(() => this.agents().told(sessionId, '', { lastEventId: '0' }));
    expect(again).toEqual([...told]);
  }

  async violations(): Promise<string[]> {
    return (await this.model.seen()).violations.map(({ reason }) => reason);
  }

  report(lives: readonly Life[]): void {
    const deeds = lives.flatMap((life) =>
      life.deeds.map((deed) => ({ deed, isUnknown: life.unknown.has(deed.id) })),
    );
    const unknown = deeds.filter(({ isUnknown }) => isUnknown).map(({ deed }) => deed.kind);
    const events = lives.reduce((sum, { told }) => sum + told.length, 0);
    const cuts = lives.reduce((sum, life) => sum + life.cuts, 0);
    console.log(
      `${KILLS} kills in ${Math.round((performance.now() - this.begun) / 1000)} s, ${lives.length} turns, ${deeds.length} deeds, ${events} events, ${cuts} connections cut`,
    );
    console.log(
      `asked about because nobody knows: ${JSON.stringify(
        Object.groupBy(unknown, (kind) => kind),
        sizes,
      )}`,
    );
    console.log(`killed at: ${JSON.stringify(this.kills)}`);
  }

  /** What is left on the host when every sandbox is removed. */
  async left(): Promise<typeof NOTHING> {
    if (!driver) return NOTHING;
    await this.agents().removeSandboxes();
    await this.daemon.stop({ keep: true });
    const { dataDir } = this.daemon;
    return leftOf(driver.name, String(readSettings(join(dataDir, 'svc.db'))['instance.name']), dataDir);
  }

  async end(): Promise<void> {
    this.isOver = true;
    await this.daemon.stop({ keep: true });
    await this.model.stop();
    rmSync(this.daemon.dataDir, { recursive: true, force: true });
  }

  private agents(): AgentClient {
    return new AgentClient(() => this.daemon.url, this.daemon.apiKey);
  }
}

const sizes = (_: string, value: unknown) => (Array.isArray(value) ? value.length : value);

function check(life: Life, counts: ReadonlyMap<string, number>, log: ReadonlyMap<string, number>): void {
  const turn = life.session.turns?.[0];
  expect([life.sessionId, turn?.status, turn?.error]).toEqual([
    life.sessionId,
    'TURN_STATUS_COMPLETED',
    undefined,
  ]);
  expect(turn?.assistantOutput).toStartWith('end of ');
  for (const deed of life.deeds) checkDeed(deed, life, deed.kind === 'shell' ? log : counts);
  for (const { success, result } of callsOf(turn))
    expect(success || /outcome of this call is unknown/.test(result ?? '') || result).toBe(true);
  checkEvents(life.told);
}

function checkDeed({ kind, id }: Deed, { unknown }: Life, counts: ReadonlyMap<string, number>): void {
  if (kind === 'asks') return;
  const times = counts.get(id) ?? 0;
  const allowed = unknown.has(id) ? [0, 1] : [1];
  expect([kind, id, allowed.includes(times) || times]).toEqual([kind, id, true]);
}

/** What was begun is over, and over once. */
function checkEvents(told: readonly Told[]): void {
  const ids = (types: readonly string[], field: 'toolCallId' | 'reviewId' | 'userInputId') =>
    told
      .filter(({ result }) => types.includes(result?.type ?? ''))
      .map(({ result }) => result?.[field] ?? '')
      .toSorted();
  const once = (list: readonly string[]) => [...new Set(list)];
  expect(ids(['tool_call.end', 'tool_call.error'], 'toolCallId')).toEqual(
    once(ids(['tool_call.start'], 'toolCallId')),
  );
  expect(ids(['approval.resolved'], 'reviewId')).toEqual(ids(['approval.requested'], 'reviewId'));
  expect(ids(['user_input.received'], 'userInputId')).toEqual(ids(['user_input.requested'], 'userInputId'));
  expect(told.filter(({ result }) => result?.type === 'turn.end')).toHaveLength(1);
}
