import { asAppError, fail, invalid } from '../../../../src/errors/app-error.ts';
import { type IdPrefix, newId } from '../../../../src/kit/id.ts';
import { SECOND_MS } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import type {
  Detached,
  ExecSpec,
  Execution,
  Exit,
  SandboxDriver,
  Terminal,
  TerminalSize,
} from '../drivers/driver.ts';
import type { SandboxEvents } from '../history/events.ts';
import type { LifecycleService } from '../lifecycle/service.ts';
import type { ExecutionRow, Sandbox } from '../tables.ts';
import { OutputHead } from './head.ts';
import type { CommandLogs, LogWriter } from './log.ts';
import type { ExecutionStore } from './store.ts';

/** A command as the caller asks for it. */
export interface CommandRequest {
  readonly command: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly uid?: number;
  readonly gid?: number;
  /** Milliseconds after which the command and all it started are killed; none when absent. */
  readonly timeoutMs?: number;
}

/** A command that runs, as seen by whoever streams it. */
export interface Running<T> {
  readonly row: ExecutionRow;
  readonly process: T;
  /** Where its output is kept; whoever reads the output closes it. */
  readonly log: LogWriter;
  readonly head: OutputHead;
  /** How it ended, after its row was written. */
  readonly ended: Promise<Ended>;
}

/** How a command ended. */
export interface Ended extends Exit {
  readonly timedOut: boolean;
  readonly durationMs: number;
}

/** Code that runs inside a process of its sandbox, seen from the history. */
export interface RecordedCode {
  readonly row: ExecutionRow;
  readonly log: LogWriter;
  readonly head: OutputHead;
  /** Writes how it ended; `reason` is for a person. */
  finish(exitCode: number, reason?: string): Ended;
}

type Signal = 'SIGINT' | 'SIGTERM' | 'SIGKILL' | 'SIGHUP';
type Killable = { kill(signal: Signal): Promise<void> };

/** Something that runs in a sandbox now. */
interface Active {
  readonly sandboxId: string;
  readonly process: Killable;
  /** Resolves when its row says how it ended. */
  readonly over?: Promise<void>;
}

const ID_PREFIX: Partial<Record<ExecutionRow['kind'], IdPrefix>> = { terminal: 'pty', code: 'exe' };
/** Characters of code that the history keeps. */
const MAX_KEPT_CODE = 64 * 1024;

const GRACE_MS = 3 * SECOND_MS;
const TRIM_EVERY_MS = 2 * SECOND_MS;
const LOOK_AGAIN_MS = 250;

/** Runs commands and terminals in sandboxes and keeps their history. */
export class CommandService {
  private readonly active = new Map<string, Active>();

  constructor(
    private readonly app: App,
    private readonly driver: SandboxDriver,
    private readonly lifecycle: LifecycleService,
    private readonly store: ExecutionStore,
    private readonly events: SandboxEvents,
    readonly logs: CommandLogs,
  ) {}

  /** Starts a command that belongs to its caller. Errors: sandbox_not_found, sandbox_wrong_state, invalid_argument. */
  async start(tenant: string, sandbox: string, request: CommandRequest): Promise<Running<Execution>> {
    return this.launch(tenant, sandbox, 'command', request, (id, spec) => this.driver.exec(id, spec));
  }

  /** Starts a command on plain pipes, stdin included. */
  async startPipe(tenant: string, sandbox: string, request: CommandRequest): Promise<Running<Execution>> {
    return this.launch(tenant, sandbox, 'pipe', request, (id, spec) =>
      this.driver.exec(id, { ...spec, stdin: true }),
    );
  }

  /** Starts a command, or a login shell, on a terminal. */
  async startTerminal(
    tenant: string,
    sandbox: string,
    request: CommandRequest,
    size: TerminalSize,
  ): Promise<Running<Terminal>> {
    return this.launch(tenant, sandbox, 'terminal', request, (id, spec) =>
      this.driver.openTerminal(id, spec, size),
    );
  }

  /** Writes down code that a process of the sandbox begins to run. What it is given can stop it. */
  recordCode(box: Sandbox, language: string, code: string, process: Killable): RecordedCode {
    const row = { ...this.newRow(box, 'code', { command: code.slice(0, MAX_KEPT_CODE) }), language };
    this.store.insert(row);
    this.active.set(row.id, { sandboxId: box.id, process });
    const [log, head] = [this.logs.writer(box.id, row.id), new OutputHead()];
    const finish = (code: number, reason?: string): Ended => {
      this.active.delete(row.id);
      this.lifecycle.touch(row.sandboxId);
      const durationMs = this.app.clock.now() - row.createdAt;
      return this.finish(row, { code, timedOut: false, durationMs }, head, reason);
    };
    return { row, log, head, finish };
  }

  /**
   * Starts a command that belongs to its sandbox: it outlives the request and this process. Whoever chooses its id (`cmd_...`)
   * knows after a crash what became of it: without a row it was never started.
   */
  async startBackground(
    tenant: string,
    sandbox: string,
    request: CommandRequest,
    id?: string,
  ): Promise<ExecutionRow> {
    const box = this.lifecycle.running(tenant, sandbox);
    checkRequest(request);
    const row = this.newRow(box, 'background', request, id);
    const logPath = await this.logs.prepare(box.id, row.id);
    this.store.insert(row);
    const detached = await this.orForget(row, () => this.driver.spawn(box.id, specOf(row, request), logPath));
    this.store.update(row.id, { ref: detached.ref });
    this.watch(row, detached);
    return row;
  }

  /** Stops a command and all it started: SIGINT, and SIGKILL when that is not enough. Errors: command_not_found. */
  async interrupt(tenant: string, sandbox: string, id: string): Promise<void> {
    const box = this.lifecycle.get(tenant, sandbox);
    const row = this.store.find(tenant, box.id, id);
    if (!row) throw fail('command_not_found', { id });
    const running = this.active.get(id);
    if (!running) throw fail('failed_precondition', { message: `The command ${id} has ended already.` });
    await this.end(id, 'SIGINT');
  }

  /** Sends a signal, and SIGKILL after a grace when the command is still there. */
  async end(id: string, signal: Signal): Promise<void> {
    await this.active.get(id)?.process.kill(signal);
    setTimeout(
      () =>
        void this.active
          .get(id)
          ?.process.kill('SIGKILL')
          .catch(() => undefined),
      GRACE_MS,
    );
  }

  /** Errors: sandbox_not_found, command_not_found. */
  get(tenant: string, sandbox: string, id: string): ExecutionRow {
    const box = this.lifecycle.get(tenant, sandbox);
    const row = this.store.find(tenant, box.id, id);
    if (!row) throw fail('command_not_found', { id });
    return row;
  }

  /** What ran under an id; undefined for another tenant's, too. */
  find(tenant: string, sandboxId: string, id: string): ExecutionRow | undefined {
    return this.store.find(tenant, sandboxId, id);
  }

  /** Waits until a command has ended or is lost, or nobody waits any more; undefined when there is none. */
  async ended(
    tenant: string,
    sandboxId: string,
    id: string,
    signal: AbortSignal,
  ): Promise<ExecutionRow | undefined> {
    for (;;) {
      const row = this.store.find(tenant, sandboxId, id);
      if (row?.state !== 'running' || (signal.aborted && !this.active.has(id))) return row;
      // One of a former process may not have been taken up yet.
      await (this.active.get(id)?.over ?? Bun.sleep(LOOK_AGAIN_MS));
    }
  }

  list(
    tenant: string,
    sandbox: string,
    limit: number,
    offset: number,
  ): { rows: ExecutionRow[]; total: number } {
    return this.store.list(tenant, this.lifecycle.get(tenant, sandbox).id, limit, offset);
  }

  /** Whether something runs in a sandbox. */
  isBusy(sandboxId: string): boolean {
    return [...this.active.values()].some((one) => one.sandboxId === sandboxId);
  }

  totals(tenant: string): { total: number; meanMs: number } {
    return this.store.totals(tenant);
  }

  /** Takes up what ran when a former process ended: background commands go on, the others are lost. */
  async adopt(adopted: readonly Sandbox[]): Promise<void> {
    const alive = new Set(adopted.map((row) => row.id));
    for (const row of this.store.running()) {
      const lives = alive.has(row.sandboxId) && row.kind === 'background';
      // The process before may have ended after it had started the command and before it knew its ref.
      const detached = lives ? await this.driver.attach(row.sandboxId, row.ref ?? row.id) : undefined;
      const isCut = lives && !detached && row.ref === null;
      if (detached) this.watch(row, detached);
      // Without a row it was never started: whoever has chosen its id starts it again.
      else if (isCut && (await this.driver.forestall(row.sandboxId, row.id))) this.store.remove(row.id);
      else
        this.store.finish(row.id, {
          state: 'lost',
          error: 'svc was restarted while it ran',
          finishedAt: this.app.clock.now(),
        });
    }
  }

  private async launch<T extends Killable & { exited: Promise<Exit> }>(
    tenant: string,
    sandbox: string,
    kind: ExecutionRow['kind'],
    request: CommandRequest,
    begin: (id: string, spec: ExecSpec) => Promise<T>,
  ): Promise<Running<T>> {
    const box = this.lifecycle.running(tenant, sandbox);
    checkRequest(request);
    const row = this.newRow(box, kind, request);
    this.store.insert(row);
    const process = await this.orForget(row, () => begin(box.id, specOf(row, request)));
    const [log, head] = [this.logs.writer(box.id, row.id), new OutputHead()];
    const ended = this.follow(row, process, head);
    ended.catch((error) => this.app.log.error('a command could not be followed', { command: row.id, error }));
    return { row, process, log, head, ended };
  }

  /** Runs `begin`; when the command cannot even be handed over, its row says so. */
  private async orForget<T>(row: ExecutionRow, begin: () => Promise<T>): Promise<T> {
    try {
      return await begin();
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      this.store.finish(row.id, { state: 'lost', error: text, finishedAt: this.app.clock.now() });
      throw error;
    }
  }

  private watch(row: ExecutionRow, detached: Detached): void {
    let dropped = row.logDropped;
    const trim = setInterval(async () => {
      const now = await this.logs.trim(row.sandboxId, row.id, dropped);
      if (now !== dropped) this.store.update(row.id, { logDropped: now });
      dropped = now;
    }, TRIM_EVERY_MS);
    trim.unref();
    this.follow(row, detached, new OutputHead())
      .catch((error) =>
        this.app.log.error('a background command could not be followed', { command: row.id, error }),
      )
      .finally(() => clearInterval(trim));
  }

  private async follow(
    row: ExecutionRow,
    process: Killable & { exited: Promise<Exit> },
    head: OutputHead,
  ): Promise<Ended> {
    const { promise: over, resolve } = Promise.withResolvers<void>();
    this.active.set(row.id, { sandboxId: row.sandboxId, process, over });
    let timedOut = false;
    const left = row.deadlineAt === null ? undefined : Math.max(row.deadlineAt - this.app.clock.now(), 0);
    const timer =
      left === undefined
        ? undefined
        : setTimeout(() => {
            timedOut = true;
            void process
              .kill('SIGKILL')
              .catch((error) =>
                this.app.log.error('a command could not be killed', { command: row.id, error }),
              );
          }, left);
    try {
      const exit = await process.exited;
      return this.finish(row, { ...exit, timedOut, durationMs: this.app.clock.now() - row.createdAt }, head);
    } catch (error) {
      const { message } = asAppError(error);
      this.store.finish(row.id, { state: 'lost', error: message, finishedAt: this.app.clock.now() });
      throw error;
    } finally {
      clearTimeout(timer);
      this.active.delete(row.id);
      this.lifecycle.touch(row.sandboxId);
      resolve();
    }
  }

  private finish(row: ExecutionRow, ended: Ended, head: OutputHead, reason = reasonOf(ended)): Ended {
    const { code, signal, timedOut, durationMs } = ended;
    const error = reason ?? null;
    const change = {
      state: 'finished' as const,
      exitCode: code,
      signal: signal ?? null,
      timedOut,
      error,
      durationMs,
      stdout: head.text('stdout'),
      stderr: head.text('stderr'),
      finishedAt: this.app.clock.now(),
    };
    const metadata = { commandId: row.id, exitCode: code };
    const event = {
      type: 'command.finished',
      message: `Exit ${code}: ${row.command.slice(0, 200)}`,
      metadata,
      durationMs,
    };
    this.events.record(row.tenant, row.sandboxId, event, () => this.store.finish(row.id, change));
    return ended;
  }

  private newRow(
    box: Sandbox,
    kind: ExecutionRow['kind'],
    request: CommandRequest,
    id?: string,
  ): ExecutionRow {
    const now = this.app.clock.now();
    return {
      id: id ?? newId(ID_PREFIX[kind] ?? 'cmd', now),
      tenant: box.tenant,
      sandboxId: box.id,
      kind,
      language: 'sh',
      command: request.command,
      ref: null,
      state: 'running',
      exitCode: null,
      signal: null,
      timedOut: false,
      error: null,
      stdout: '',
      stderr: '',
      logDropped: 0,
      deadlineAt: request.timeoutMs ? now + request.timeoutMs : null,
      durationMs: null,
      createdAt: now,
      finishedAt: null,
    };
  }
}

/** Why a command ended badly, for a person; undefined when it ended by itself. */
export function reasonOf({ timedOut, outOfMemory, startError, signal }: Ended): string | undefined {
  if (startError) return startError;
  if (timedOut) return 'killed after its timeout';
  if (outOfMemory) return 'killed because the sandbox ran out of memory';
  return signal ? `ended by ${signal}` : undefined;
}

function specOf(row: ExecutionRow, { command, cwd, env, uid, gid }: CommandRequest): ExecSpec {
  const argv: ExecSpec['argv'] = command === '' ? ['/bin/sh', '-c', LOGIN_SHELL] : ['/bin/sh', '-c', command];
  return { id: row.id, argv, cwd, env, uid, gid };
}

/** Takes bash when the image has it. */
const LOGIN_SHELL = 'if command -v bash >/dev/null 2>&1; then exec bash -l; else exec sh -l; fi';

/** What the kernel takes as one word (execve(2), MAX_ARG_STRLEN), with room for what is put before it. */
const MAX_LINE = 130_000;

function checkRequest({ command, cwd, env }: CommandRequest): void {
  if (command.includes('\0')) throw invalid({ field: 'command', description: 'must not hold a NUL byte' });
  if (Buffer.byteLength(command) > MAX_LINE)
    throw invalid({
      field: 'command',
      description: `must be at most ${MAX_LINE} bytes; longer ones go into a file, or to the stdin of a shell`,
    });
  if (cwd !== undefined && !cwd.startsWith('/'))
    throw invalid({ field: 'cwd', description: 'must be an absolute path' });
  if (cwd?.includes('\0')) throw invalid({ field: 'cwd', description: 'must not hold a NUL byte' });
  const bad = Object.entries(env ?? {}).find(
    ([name, value]) => !/^[a-zA-Z_]\w*$/.test(name) || value.includes('\0'),
  );
  if (bad)
    throw invalid({
      field: `envs.${bad[0]}`,
      description: 'is not a variable: letters, digits and underscores, and no NUL in the value',
    });
}
