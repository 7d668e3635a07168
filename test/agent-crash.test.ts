import { expect, setDefaultTimeout, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readSettings } from '../daemon/db/settings.ts';
import { AgentClient, callsOf, type Told } from './support/agent-client.ts';
import { deedsOf, diceOf } from './support/agent-survivor/deeds.ts';
import { persist } from './support/agent-survivor/persist.ts';
import { Reviewer } from './support/agent-survivor/reviewer.ts';
import { type Life, Survivor } from './support/agent-survivor/survivor.ts';
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
  'tool_call.error',
  'approval.requested',
  'approval.resolved',
  'user_input.requested',
  'user_input.received',
  'steer.received',
  'spawn.start',
  'spawn.end',
  'sandbox.exec',
  'sandbox.result',
  'turn.end',
  'session.end',
];

const wanted = process.env.SVC_TEST_AGENT_DRIVER ?? 'namespace';
const driver = driverCases.find(({ name }) => name === wanted);

test('turns go on through kills of the daemon: each effect once, no approval and no event lost', async () => {
  console.log(`seed ${SEED}`);
  const world = await World.start();
  try {
    const lives = await world.live();
    const found = await world.found(lives);
    for (const life of lives) check(life, found);
    for (const life of lives) await world.checkReplay(life);
    expect(await world.violations()).toEqual([]);
    world.report(lives);
    expect(await world.left()).toEqual(NOTHING);
  } finally {
    await world.end();
  }
});

/** How often effects are found outside, by id, and of which nobody knows. */
interface Found {
  readonly effects: ReadonlyMap<string, number>;
  readonly commands: ReadonlyMap<string, number>;
  readonly memories: ReadonlyMap<string, number>;
  readonly unknown: ReadonlyMap<string, string>;
}

class World {
  private readonly dice = diceOf(SEED);
  private readonly agents: AgentClient;
  private readonly reviewer: Reviewer;
  private readonly kills: Record<string, number> = {};
  private readonly waiting = new Map<string, () => void>();
  private readonly begun = performance.now();
  private agentIds: string[] = [];
  private isOver = false;
  private lived = 0;

  private constructor(
    private readonly model: ScriptedModel,
    private daemon: TestDaemon,
    private readonly env: Readonly<Record<string, string>>,
  ) {
    this.agents = new AgentClient(() => this.daemon.url, daemon.apiKey);
    this.reviewer = new Reviewer(this.agents, this.dice);
  }

  static async start(): Promise<World> {
    const model = await startScriptedModel();
    const env = { ...(driver?.env ?? NO_SANDBOXES), ...model.env, SVC_LOG_LEVEL: 'warn' };
    return new World(model, await startDaemon({ env }), env);
  }

  /** Lets sessions come and go while the daemon is killed. Answers what became of all of them. */
  async live(): Promise<Life[]> {
    await this.settle();
    const lives: Life[] = [];
    const crowd = Array.from({ length: CROWD }, async (_, i) => {
      while (!this.isOver) lives.push(await this.liveOnce(this.agentIds[i % this.agentIds.length] ?? ''));
    });
    const reviewing = this.reviewer.watch();
    await Promise.all([...crowd, this.killAll()]);
    this.reviewer.stop();
    await reviewing;
    return lives;
  }

  private async settle(): Promise<void> {
    for (const name of ['effect', 'guarded']) await this.agents.effect(this.model.effectUrl, name);
    const own = ['ask_user', 'spawn_agent', 'memory_store', ...(driver ? ['sandbox_shell'] : [])];
    const config = {
      lifecycle: 'PERSISTENT',
      approval: { tools: ['guarded'], timeoutSeconds: 3600 },
      spawn: { maxNodes: 1000 },
    };
    const memoryConfig = { enabled: true, scope: 'agent' };
    const fields = { tools: ['effect', 'guarded', ...own], config, memoryConfig };
    this.agentIds = [await this.agents.agent(fields), await this.agents.agent(fields)];
    await this.agents.agent({ name: 'child', mode: 'AGENT_MODE_SUBAGENT', tools: ['effect'] });
  }

  private liveOnce(agentId: string): Promise<Life> {
    const key = `s${++this.lived}`;
    const { agents, reviewer, dice } = this;
    const seen = (type: string) => this.waiting.get(type)?.();
    const deeds = deedsOf(key, dice, driver !== undefined);
    return new Survivor({ agents, reviewer, dice, seen }, key, deeds).live(agentId);
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

  /** What is found of all effects. */
  async found(lives: readonly Life[]): Promise<Found> {
    const boxes = new Set(lives.flatMap(({ told }) => told.map(({ result }) => result?.sandboxId)));
    const lines: string[] = [];
    for (const box of boxes) {
      if (!box) continue;
      const { stdout } = await run(clientOf(this.daemon), box, 'cat effects.log');
      lines.push(...stdout.split('\n'));
    }
    return {
      effects: counted((await this.model.effects()).map(({ id }) => id)),
      commands: counted(lines),
      memories: counted(await this.memories()),
      unknown: this.reviewer.unknown,
    };
  }

  private async memories(): Promise<string[]> {
    const all: string[] = [];
    for (const id of this.agentIds) {
      for (let offset = 0; ; ) {
        const path = `/v1/agents/${id}/memories?limit=100&offset=${offset}`;
        const { body } = await this.agents.ask<{ memories?: Array<{ factKey: string }> }>('GET', path);
        const { memories = [] } = body;
        if (memories.length === 0) break;
        all.push(...memories.map(({ factKey }) => factKey.replace('about.', '')));
        offset += memories.length;
      }
    }
    return all;
  }

  /** Somebody who comes later sees what was seen. */
  async checkReplay({ sessionId, told }: Life): Promise<void> {
    const again = await persist(() => this.agents.told(sessionId, '', { lastEventId: '0' }));
    expect(again).toEqual(told.slice(0, again.length));
    expect(again.some(({ result }) => result?.type === 'turn.end')).toBe(true);
  }

  async violations(): Promise<string[]> {
    return (await this.model.seen()).violations.map(({ reason }) => reason);
  }

  report(lives: readonly Life[]): void {
    const sum = (of: (life: Life) => number) => lives.reduce((all, life) => all + of(life), 0);
    const deeds = sum((life) => life.deeds.length);
    const cancelled = sum(({ isCancelled }) => (isCancelled ? 1 : 0));
    console.log(
      `${KILLS} kills in ${Math.round((performance.now() - this.begun) / 1000)} s, ${lives.length} turns (${cancelled} cancelled), ${deeds} deeds, ${sum(({ told }) => told.length)} events, ${sum(({ asides }) => asides.length)} asides, ${sum(({ cuts }) => cuts)} streams cut`,
    );
    const unknown = Object.fromEntries(counted(this.reviewer.unknown.values()));
    console.log(`asked about because nobody knows: ${JSON.stringify(unknown)}`);
    console.log(`killed at: ${JSON.stringify(this.kills)}`);
  }

  /** What is left on the host when every sandbox is removed. */
  async left(): Promise<typeof NOTHING> {
    if (!driver) return NOTHING;
    await this.agents.removeSandboxes();
    await this.daemon.stop({ keep: true });
    const { dataDir } = this.daemon;
    return leftOf(driver.name, String(readSettings(join(dataDir, 'svc.db'))['instance.name']), dataDir);
  }

  async end(): Promise<void> {
    this.isOver = true;
    this.reviewer.stop();
    await this.daemon.stop({ keep: true });
    await this.model.stop();
    rmSync(this.daemon.dataDir, { recursive: true, force: true });
  }
}

function counted(ids: Iterable<string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

function check(life: Life, found: Found): void {
  const turn = life.session.turns?.[0];
  const wasCancelled = life.isCancelled && turn?.status === 'TURN_STATUS_FAILED';
  const wanted = wasCancelled
    ? ['TURN_STATUS_FAILED', expect.stringContaining('Cancelled')]
    : ['TURN_STATUS_COMPLETED', undefined];
  expect([life.sessionId, turn?.status, turn?.error]).toEqual([life.sessionId, ...wanted]);
  for (const { effects = [], commands = [], memories = [] } of life.deeds) {
    for (const id of effects) checkOnce(id, found.effects, found, wasCancelled);
    for (const id of commands) checkOnce(id, found.commands, found, wasCancelled);
    for (const id of memories) checkOnce(id, found.memories, found, wasCancelled);
  }
  for (const { success } of callsOf(turn)) expect(success).toBeBoolean();
  checkEvents(life);
}

/** An effect was had once; what nobody knows and what was cancelled was had once at most. */
function checkOnce(
  id: string,
  counts: ReadonlyMap<string, number>,
  { unknown }: Found,
  wasCancelled: boolean,
): void {
  const times = counts.get(id) ?? 0;
  const allowed = wasCancelled || unknown.has(id) ? [0, 1] : [1];
  expect([id, allowed.includes(times) || `had ${times} times`]).toEqual([id, true]);
}

/** What was begun is over, and over once. */
function checkEvents({ told, asides }: Life): void {
  const ids = (types: readonly string[], field: 'toolCallId' | 'reviewId' | 'userInputId' | 'textDelta') =>
    told
      .filter(({ result }) => types.includes(result?.type ?? ''))
      .map(({ result }: Told) => result?.[field] ?? '')
      .toSorted();
  const once = (list: readonly string[]) => [...new Set(list)];
  const over = ids(['tool_call.end', 'tool_call.error'], 'toolCallId');
  expect(over).toEqual(once(over));
  expect(over).toEqual(expect.arrayContaining(ids(['tool_call.start'], 'toolCallId')));
  const cancelled = ids(['approval.cancelled'], 'reviewId').length;
  expect(ids(['approval.resolved'], 'reviewId').length + cancelled).toBe(
    ids(['approval.requested'], 'reviewId').length,
  );
  const received = ids(['user_input.received'], 'userInputId');
  expect(received).toEqual(once(received));
  const heard = ids(['steer.received'], 'textDelta');
  expect(heard).toEqual(once(heard));
  expect(heard).toEqual(expect.arrayContaining(told.some(isCancelledEnd) ? [] : [...asides]));
  expect(told.filter(({ result }) => result?.type === 'turn.end')).toHaveLength(1);
}

const isCancelledEnd = ({ result }: Told) =>
  result?.type === 'turn.end' && result.finishReason === 'cancelled';
