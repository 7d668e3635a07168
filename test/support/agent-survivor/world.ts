import { expect } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readSettings } from '../../../daemon/db/settings.ts';
import { AgentClient } from '../agent-client.ts';
import { startDaemon, type TestDaemon } from '../daemon.ts';
import type { DriverCase } from '../drivers.ts';
import { clientOf, run } from '../scene.ts';
import { type ScriptedModel, startScriptedModel } from '../scripted-model/index.ts';
import { NO_SANDBOXES } from '../tenants/two-tenants.ts';
import { leftOf, NOTHING } from '../traces.ts';
import { type Dice, deedsOf, diceOf } from './deeds.ts';
import { persist } from './persist.ts';
import { Reviewer } from './reviewer.ts';
import { type Life, Survivor } from './survivor.ts';

/** A kill waits for its boundary no longer than this. */
const BOUNDARY_MS = 1_000;

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

/** How large a world is. */
export interface WorldWish {
  readonly kills: number;
  /** Sessions that are under way at once. */
  readonly crowd: number;
  readonly seed: number;
  /** Where sandboxes are made; without one there are no commands. */
  readonly driver: DriverCase | undefined;
}

/** How often effects are found outside, by id, and of which nobody knows. */
export interface Found {
  readonly effects: ReadonlyMap<string, number>;
  readonly commands: ReadonlyMap<string, number>;
  readonly memories: ReadonlyMap<string, number>;
  readonly unknown: ReadonlyMap<string, string>;
}

/** A daemon that is killed again and again, and sessions that come and go meanwhile. */
export class World {
  private readonly agents: AgentClient;
  private readonly reviewer: Reviewer;
  private readonly kills: Record<string, number> = {};
  private readonly waiting = new Map<string, () => void>();
  private readonly begun = performance.now();
  private agentIds: string[] = [];
  private isOver = false;
  private lived = 0;

  private constructor(
    private readonly wish: WorldWish,
    private readonly dice: Dice,
    private readonly model: ScriptedModel,
    private daemon: TestDaemon,
    private readonly env: Readonly<Record<string, string>>,
  ) {
    this.agents = new AgentClient(() => this.daemon.url, daemon.apiKey);
    this.reviewer = new Reviewer(this.agents, this.dice);
  }

  static async start(wish: WorldWish): Promise<World> {
    const model = await startScriptedModel();
    const env = { ...(wish.driver?.env ?? NO_SANDBOXES), ...model.env, SVC_LOG_LEVEL: 'warn' };
    return new World(wish, diceOf(wish.seed), model, await startDaemon({ env }), env);
  }

  /** Lets sessions come and go while the daemon is killed. Answers what became of all of them. */
  async live(): Promise<Life[]> {
    await this.settle();
    const lives: Life[] = [];
    const crowd = Array.from({ length: this.wish.crowd }, async (_, i) => {
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
    const own = ['ask_user', 'spawn_agent', 'memory_store', ...(this.wish.driver ? ['sandbox_shell'] : [])];
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
    const deeds = deedsOf(key, dice, this.wish.driver !== undefined);
    return new Survivor({ agents, reviewer, dice, seen }, key, deeds).live(agentId);
  }

  private async killAll(): Promise<void> {
    try {
      for (let i = 0; i < this.wish.kills; i++) {
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
      `${this.wish.kills} kills in ${Math.round((performance.now() - this.begun) / 1000)} s, ${lives.length} turns (${cancelled} cancelled), ${deeds} deeds, ${sum(({ told }) => told.length)} events, ${sum(({ asides }) => asides.length)} asides, ${sum(({ cuts }) => cuts)} streams cut`,
    );
    const unknown = Object.fromEntries(counted(this.reviewer.unknown.values()));
    console.log(`asked about because nobody knows: ${JSON.stringify(unknown)}`);
    console.log(`killed at: ${JSON.stringify(this.kills)}`);
  }

  /** What is left on the host when every sandbox is removed. */
  async left(): Promise<typeof NOTHING> {
    const { driver } = this.wish;
    if (!driver) return NOTHING;
    await this.agents.removeSandboxes();
    await this.daemon.stop({ keep: true });
    const { dataDir } = this.daemon;
    return leftOf(driver.name, String(readSettings(join(dataDir, 'svc.db'))['instance.name']), dataDir);
  }

  async end(): Promise<void> {
    this.isOver = true;
    this.reviewer.stop();
    // After a failure they are still there; else nobody answers any more.
    if (this.wish.driver) await this.agents.removeSandboxes().catch(() => undefined);
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
