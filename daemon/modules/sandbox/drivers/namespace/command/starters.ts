import { closeSync, readSync, writeSync } from 'node:fs';
import { getSystemErrorName } from 'node:util';
import { fail, invalid } from '../../../../../../src/errors/app-error.ts';
import { MINUTE_MS } from '../../../../../../src/kit/time.ts';
import type { ExecSpec, Exit } from '../../driver.ts';
import { makePipe, type Pipe } from '../../host/syscalls.ts';
import { BOX_UID } from '../../host/user-namespace.ts';
import type { Found } from '../box/boxes.ts';
import type { Host } from '../box/host.ts';
import type { ProcessSpec } from '../box/process-spec.ts';
import { orderBytes, START_PATH, STEPS } from '../box/start-program.ts';
import { type Piped, spawnPiped } from './spawn.ts';

/** A process that waits in a box with nothing to do is ended after this. */
const IDLE_MS = 5 * MINUTE_MS;
/** What an empty pipe takes at once; longer orders go by the runtime. */
const ORDER_LIMIT = 65_536;
const LEAVE_MS = 1_000;
const START_FAILED = 127;
const ENOENT = 2;
const ENOTDIR = 20;

interface Starter extends Piped {
  /** The write end of its order. */
  readonly order: number;
  /** The read end of its status. */
  readonly status: number;
  readonly idle: Timer;
}

/**
 * Processes that have entered their boxes ahead, one a box, and wait to be told what to become. Entering is what
 * a command costs: the kernel waits for a grace period when it moves a process into a control group, 10 to 20 ms
 * on an idle machine. They hold no truth: they end with the daemon, whose end of their pipe closes.
 */
export class Starters {
  private readonly waiting = new Map<string, Starter>();
  private readonly making = new Map<string, Promise<void>>();
  private closed = false;

  constructor(private readonly host: Host) {}

  /** Lets a process wait in a box, if none does. Never fails: without one, commands enter by themselves. */
  prepare(found: Found): void {
    const { containerId } = found.record;
    if (this.closed || this.waiting.has(containerId) || this.making.has(containerId)) return;
    const making = this.add(found).finally(() => this.making.delete(containerId));
    this.making.set(containerId, making);
  }

  /** Waits until the process that waits in a box, if one does, has entered it. */
  async entered(containerId: string): Promise<void> {
    await this.making.get(containerId);
    const starter = this.waiting.get(containerId);
    await starter?.entry.begun(() => starter.child.exitCode !== null);
  }

  /**
   * The waiting process of a box, told to become this command; undefined when there is none. One that is still
   * entering is as quick as any other way. Another one follows.
   */
  async take(found: Found, process: ProcessSpec): Promise<Piped | undefined> {
    const { containerId } = found.record;
    const order = orderOf(process);
    if (!order) return undefined;
    await this.making.get(containerId);
    const starter = this.waiting.get(containerId);
    this.waiting.delete(containerId);
    setImmediate(() => this.prepare(found));
    return starter && this.tell(starter, order) ? this.asPiped(starter, found, process) : undefined;
  }

  /** A process that becomes this command on a terminal: the waiting one, else a new one. Errors: busy. */
  async takeForTerminal(found: Found, process: ProcessSpec, terminal: string): Promise<Piped> {
    const order = orderOf(process, terminal);
    if (!order)
      throw invalid({ field: 'env', description: `is larger than ${ORDER_LIMIT} bytes with the command` });
    const { containerId } = found.record;
    const { uid, gid } = process.user;
    const waiting = canStart({ uid, gid }) ? this.waiting.get(containerId) : undefined;
    if (waiting) this.waiting.delete(containerId);
    setImmediate(() => this.prepare(found));
    if (waiting && this.tell(waiting, order)) return this.asPiped(waiting, found, process);
    const starter = await this.make(found, { uid, gid });
    if (!this.tell(starter, order)) throw fail('busy', { message: 'The sandbox is ending.' });
    return this.asPiped(starter, found, process);
  }

  private asPiped(starter: Starter, found: Found, { args, cwd }: ProcessSpec): Piped {
    starter.entry.hand(found);
    return { ...starter, exit: () => endOf(starter.exit(), starter.status, args[0] ?? '', cwd) };
  }

  /** False when it was killed from inside a moment ago: its end discards it. */
  private tell(starter: Starter, order: Uint8Array): boolean {
    try {
      writeSync(starter.order, order);
    } catch {
      this.dismiss(starter);
      return false;
    }
    clearTimeout(starter.idle);
    closeSync(starter.order);
    starter.child.ref();
    return true;
  }

  private async add(found: Found): Promise<void> {
    try {
      this.waiting.set(found.record.containerId, await this.make(found));
      if (this.closed) await this.dismissAll();
    } catch (error) {
      this.host.log('debug', 'no process waits in a sandbox', { id: found.record.id, error: String(error) });
    }
  }

  /** Ends the waiting process of a box that is about to end, so that its runtime is there to reap it. */
  async leave(containerId: string): Promise<void> {
    await this.making.get(containerId);
    const starter = this.waiting.get(containerId);
    if (!starter) return;
    this.dismiss(starter);
    await Promise.race([starter.child.exited, Bun.sleep(LEAVE_MS)]);
  }

  /** Ends every waiting process. */
  async close(): Promise<void> {
    this.closed = true;
    await Promise.all(this.making.values());
    await this.dismissAll();
  }

  private async dismissAll(): Promise<void> {
    const all = [...this.waiting.values()];
    for (const starter of all) this.dismiss(starter);
    await Promise.all(all.map(({ child }) => child.exited));
  }

  private async make(found: Found, user: Pick<ExecSpec, 'uid' | 'gid'> = {}): Promise<Starter> {
    const { containerId } = found.record;
    const [order, status] = [makePipe(), makePipe()];
    const piped = await this.spawn(found, user, order, status);
    const idle = setTimeout(() => this.dismiss(starter), IDLE_MS);
    idle.unref();
    piped.child.unref();
    const starter: Starter = { ...piped, order: order.write, status: status.read, idle };
    piped.child.exited.then(() => {
      if (this.waiting.get(containerId) !== starter) return;
      this.waiting.delete(containerId);
      this.discard(starter);
    });
    return starter;
  }

  private async spawn(
    found: Found,
    user: Pick<ExecSpec, 'uid' | 'gid'>,
    order: Pipe,
    status: Pipe,
  ): Promise<Piped> {
    const spec: ExecSpec = { ...user, id: `start_${crypto.randomUUID()}`, argv: [START_PATH], cwd: '/' };
    try {
      return await spawnPiped(this.host, found, spec, { stdin: false, extra: [order.read, status.write] });
    } catch (error) {
      for (const end of [order.write, status.read]) closeSync(end);
      throw error;
    }
  }

  /** Its order ends without a word: it ends too, and is discarded then. */
  private dismiss(starter: Starter): void {
    starter.child.ref();
    closeSync(starter.order);
    for (const [id, other] of this.waiting) if (other === starter) this.waiting.delete(id);
    starter.child.exited.then(() => this.discard({ ...starter, order: -1 }));
  }

  private discard({ idle, order, status, stdout, stderr, entry }: Starter): void {
    clearTimeout(idle);
    for (const end of [order, status, stdout, stderr]) if (end >= 0) closeSync(end);
    entry.forget();
  }
}

/** Whether a waiting process can become this command: it has the box's own user and no stdin. */
export function canStart({ uid, gid, stdin }: Pick<ExecSpec, 'uid' | 'gid' | 'stdin'>): boolean {
  return !stdin && (uid ?? BOX_UID) === BOX_UID && (gid ?? BOX_UID) === BOX_UID;
}

/** The order for a command; undefined when it is longer than a pipe takes at once. */
function orderOf({ cwd, args, env }: ProcessSpec, terminal?: string): Uint8Array | undefined {
  const order = orderBytes({ cwd, argv: args, env, terminal });
  return order && order.length <= ORDER_LIMIT ? order : undefined;
}

/**
 * How a command ended that was told to a waiting process, which says by its status why it could not begin. The
 * status is read only when the process itself has ended: nobody else can hold it then, so reading cannot wait.
 */
function endOf(exit: Exit, status: number, program: string, cwd: string): Exit {
  const bytes = new Uint8Array(2);
  const count = exit.code === START_FAILED ? readSync(status, bytes) : 0;
  closeSync(status);
  if (count < 2) return exit;
  const [errno = 0, step = 0] = bytes;
  const what = { cwd, program, terminal: 'the terminal' }[STEPS[step] ?? 'program'];
  const isMissing = STEPS[step] === 'program' && (errno === ENOENT || errno === ENOTDIR);
  return { code: isMissing ? 127 : 126, startError: `${what}: ${getSystemErrorName(-errno)}` };
}
