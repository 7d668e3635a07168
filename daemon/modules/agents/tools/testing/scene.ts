import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrations } from '../../../../../migrations/index.ts';
import { systemClock } from '../../../../../src/kit/time.ts';
import type { App } from '../../../../app.ts';
import { openDatabase } from '../../../../db/open.ts';
import type { Caller } from '../../../../http/route.ts';
import { Jobs } from '../../../../jobs/queue.ts';
import { openTestApp } from '../../../../testing/app.ts';
import { createSandboxModule, selectDriver, type WorkSandboxes } from '../../../sandbox/index.ts';
import type { Agent } from '../../definitions/agent.ts';
import { createToolsRoom, type ToolsRoom } from '../index.ts';
import type { JsonObject, Tool, ToolContext, ToolEvent, ToolOutcome } from '../tool.ts';

/** Who the turns of these tests belong to. */
export const CALLER: Caller = { tenant: 'org_a', role: 'member', actor: 'usr_a', via: 'api-key' };

/** An agent for tests; what it has of a sandbox is the default. */
export function toolAgent(change: Partial<Agent> = {}): Agent {
  return {
    id: 'agt_01',
    tenant: CALLER.tenant,
    name: 'Test Agent',
    description: '',
    model: 'test/model',
    systemPrompt: '',
    tools: [],
    config: {
      lifecycle: 'ephemeral',
      identity: [],
      model: {},
      fallbackModels: [],
      approval: { tools: [], matchMode: 'exact', timeoutMs: 60_000, defaultAction: 'deny' },
      sandbox: {},
      spawn: { agents: [], async: false, maxConcurrentJobs: 4, maxDepth: 3, maxNodes: 32, maxTokens: 0 },
      compaction: { enabled: false, model: '', contextTokens: 0 },
    },
    maxTurns: 0,
    maxToolCallsPerTurn: 0,
    maxSteps: 0,
    mode: 'primary',
    permissionMode: 'rules',
    workingDirectory: '',
    memory: { enabled: false, scope: 'agent', autoRetrieve: false, autoRetrieveTopK: 10, autoExtract: false },
    version: 1,
    ...change,
  };
}

/** A call of a tool, and what it has told and noted. */
export interface TestCall extends ToolContext {
  readonly events: ToolEvent[];
  readonly notes: string[];
}

/** Where a call of a test stands. `onNote` sees each note when it is on the disk. */
export function testCall(
  change: Partial<ToolContext> = {},
  onNote: (text: string) => void = () => {},
): TestCall {
  const [events, notes]: [ToolEvent[], string[]] = [[], []];
  return {
    caller: CALLER,
    agent: toolAgent(),
    sessionId: 'ses_01aaaaaaaaaaaaaaaaaaaaaaaa',
    turnNumber: 1,
    callId: `call_${crypto.randomUUID()}`,
    signal: new AbortController().signal,
    tell: (event) => void events.push(event),
    note(text) {
      notes.push(text);
      onNote(text);
    },
    ...change,
    events,
    notes,
  };
}

/** How a scene differs from the default. */
export interface SceneOptions {
  /** That of a scene that was left: its sandboxes are taken up. */
  readonly dataDir?: string;
  readonly flags?: Readonly<Record<string, string | number>>;
  readonly instance?: string;
}

/** The tools over real sandboxes, as one life of the daemon has them. */
export interface ToolScene {
  readonly app: App;
  readonly dataDir: string;
  readonly instance: string;
  readonly sandboxes: WorkSandboxes;
  readonly room: ToolsRoom;
  tool(name: string): Tool;
  run(name: string, args: JsonObject, call?: ToolContext): Promise<ToolOutcome>;
  /** Puts a sandbox to sleep. */
  stop(sandboxId: string): Promise<void>;
  /** Ends this life; its sandboxes go on. */
  leave(): Promise<void>;
  /** Ends this life and removes everything. */
  close(): Promise<void>;
}

/** Opens a scene. */
export async function openToolScene(options: SceneOptions = {}): Promise<ToolScene> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'svc-tools-'));
  mkdirSync(dataDir, { recursive: true });
  const instance = options.instance ?? `t${crypto.randomUUID().slice(0, 6)}`;
  const flags = { 'data.dir': dataDir, 'ssh.enabled': 'false', 'sandbox.warm': 0, ...options.flags };
  const db = openDatabase(join(dataDir, 'svc.db'), migrations);
  const base = openTestApp(systemClock, flags);
  const app: App = { ...base, db, jobs: new Jobs(db, systemClock, base.log) };
  const driver = await selectDriver({ ...app, instance });
  const people = { roleOf: () => undefined, userOf: (_: string, actor: string) => actor };
  const module = createSandboxModule(app, driver, people, () => 8089);
  await module.start?.();
  const room = createToolsRoom(app, { sandboxes: module.own, hasSession: () => true });
  const tool = (name: string) => {
    const found = room.sources.map((source) => source.find(toolAgent(), name)).find(Boolean);
    if (!found) throw new Error(`there is no tool ${name}`);
    return found;
  };
  const leave = async () => {
    await module.stop?.();
    db.close();
  };
  return {
    ...{ app, dataDir, instance, room, tool, leave },
    sandboxes: module.own,
    async stop(sandboxId) {
      await driver.stop(sandboxId);
      db.raw.run("UPDATE sandboxes SET state = 'sleeping' WHERE id = ?", [sandboxId]);
    },
    run: (name, args, call = testCall()) => tool(name).run(args, call),
    async close() {
      for (const { id } of await driver.list()) await driver.remove(id);
      await leave();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** The drivers that can be had here, and the flags that choose them. */
export const sceneCases: ReadonlyArray<{ readonly name: string; readonly flags: SceneOptions['flags'] }> = [
  ...(process.platform === 'linux' && process.getuid?.() === 0 && (Bun.which('crun') ?? Bun.which('runc'))
    ? [{ name: 'namespace', flags: { 'sandbox.driver': 'namespace' } }]
    : []),
  ...(process.env.SVC_TEST_DOCKER_SOCKET
    ? [
        {
          name: 'docker',
          flags: {
            'sandbox.driver': 'docker',
            'sandbox.docker_socket': process.env.SVC_TEST_DOCKER_SOCKET,
            'sandbox.docker_image': 'svc-test/debian:1',
          },
        },
      ]
    : []),
];
