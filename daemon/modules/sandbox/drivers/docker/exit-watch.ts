import type { Readable } from 'node:stream';
import { type Engine, hasStatus } from './engine.ts';
import { jsonLines } from './lines.ts';
import { INSTANCE_LABEL } from './names.ts';

/** How the engine says that an exec ended. */
export interface ExecEnd {
  readonly code: number;
  /** False when the engine could not start it. */
  readonly started: boolean;
  /** The kernel took something of the box for memory shortly before. */
  readonly outOfMemory: boolean;
}

interface Waiter {
  readonly execId: string;
  readonly promise: Promise<ExecEnd | undefined>;
  readonly resolve: (end: ExecEnd | undefined) => void;
  isKilledByUs: boolean;
  /** When the engine told its listeners of the end. */
  readonly told: PromiseWithResolvers<void>;
}

interface EngineEvent {
  readonly Action?: string;
  readonly Actor?: { readonly ID?: string; readonly Attributes?: Readonly<Record<string, string>> };
}

const SIGKILL_CODE = 137;
const TOLD_MS = 300;
const OOM_AFTER_MS = 30;
const OOM_FRESH_MS = 5_000;
const HEARTBEAT_MS = 30_000;
const RECONNECT_MS = 250;
/** The engine answers a moment before it listens to its own events. */
const SUBSCRIBED_MS = 100;

/**
 * Knows when execs end: one stream of the engine's events for all of them, and an inspection wherever an
 * event may have been missed. The code is always the engine's, never a guess.
 */
export class ExitWatch {
  private readonly waiters = new Map<string, Waiter>();
  private readonly oomAt = new Map<string, number>();
  private stream: Readable | undefined;
  private connecting: Promise<void> | undefined;
  private heartbeat: Timer | undefined;
  private isClosed = false;

  constructor(
    private readonly engine: Engine,
    private readonly instance: string,
  ) {}

  /** Resolves when the exec ends; with undefined when the engine does not know it (any more). */
  wait(execId: string): Promise<ExecEnd | undefined> {
    const known = this.waiters.get(execId);
    if (known) return known.promise;
    const told = Promise.withResolvers<void>();
    const waiter = { execId, isKilledByUs: false, told, ...Promise.withResolvers<ExecEnd | undefined>() };
    this.waiters.set(execId, waiter);
    void this.connect();
    return waiter.promise;
  }

  /** Takes note that we kill it: a SIGKILL then needs no other reason. */
  expectKill(execId: string): void {
    const waiter = this.waiters.get(execId);
    if (waiter) waiter.isKilledByUs = true;
  }

  /** Asks the engine now: the caller has a sign that the exec ended. */
  async check(execId: string): Promise<void> {
    const waiter = this.waiters.get(execId);
    if (!waiter) return;
    try {
      const info = await this.engine.client.getExec(execId).inspect();
      if (info.Running || info.ExitCode === null) return;
      await this.settle(waiter, { code: info.ExitCode, started: info.Pid !== 0 }, info.ContainerID);
    } catch (error) {
      if (hasStatus(error, 404)) this.finish(waiter, undefined);
    }
  }

  /** Resolves when events are heard; at once when they are already. */
  connect(): Promise<void> {
    if (this.isClosed) return Promise.resolve();
    this.connecting ??= this.open();
    return this.connecting;
  }

  close(): void {
    this.isClosed = true;
    clearInterval(this.heartbeat);
    this.stream?.destroy();
  }

  private async open(): Promise<void> {
    const event = ['exec_die', 'die', 'oom'];
    const filters = { type: ['container'], event, label: [`${INSTANCE_LABEL}=${this.instance}`] };
    try {
      this.stream = (await this.engine.client.getEvents({ filters: JSON.stringify(filters) })) as Readable;
      void this.listen(this.stream);
      this.heartbeat ??= setInterval(() => this.checkAll(), HEARTBEAT_MS);
      this.heartbeat.unref();
      this.checkAll();
      setTimeout(() => this.checkAll(), SUBSCRIBED_MS).unref();
    } catch {
      this.reopen();
    }
  }

  private async listen(stream: Readable): Promise<void> {
    try {
      for await (const event of jsonLines(stream)) this.hear(event as EngineEvent);
    } catch {
      // A broken stream is a stream that ended: it is opened again.
    }
    this.reopen();
  }

  private reopen(): void {
    const isNeeded = !this.isClosed && this.waiters.size > 0;
    this.connecting = isNeeded ? Bun.sleep(RECONNECT_MS).then(() => this.open()) : undefined;
  }

  private hear({ Action: action, Actor: actor }: EngineEvent): void {
    const containerId = actor?.ID ?? '';
    if (action === 'exec_die') this.hearEnd(containerId, actor?.Attributes ?? {});
    else if (action === 'oom') this.oomAt.set(containerId, Date.now());
    else if (action === 'die') {
      this.oomAt.delete(containerId);
      this.checkAll();
    }
  }

  private hearEnd(
    containerId: string,
    { execID = '', exitCode = '' }: Readonly<Record<string, string>>,
  ): void {
    const waiter = this.waiters.get(execID);
    if (!waiter) return;
    waiter.told.resolve();
    if (/^\d+$/.test(exitCode))
      void this.settle(waiter, { code: Number(exitCode), started: true }, containerId);
    else void this.check(execID);
  }

  private checkAll(): void {
    for (const execId of this.waiters.keys()) void this.check(execId);
  }

  private async settle(
    waiter: Waiter,
    end: Omit<ExecEnd, 'outOfMemory'>,
    containerId: string,
  ): Promise<void> {
    const isSuspect = end.code === SIGKILL_CODE && end.started && !waiter.isKilledByUs;
    if (isSuspect && !this.sawOom(containerId)) await this.untilOomIsTold(waiter);
    this.finish(waiter, { ...end, outOfMemory: isSuspect && this.sawOom(containerId) });
  }

  private finish(waiter: Waiter, end: ExecEnd | undefined): void {
    this.waiters.delete(waiter.execId);
    waiter.resolve(end);
  }

  private sawOom(containerId: string): boolean {
    return Date.now() - (this.oomAt.get(containerId) ?? 0) < OOM_FRESH_MS;
  }

  /** A kill for memory is told about when the end that it caused is. */
  private async untilOomIsTold({ told }: Waiter): Promise<void> {
    await Promise.race([told.promise, Bun.sleep(TOLD_MS)]);
    await Bun.sleep(OOM_AFTER_MS);
  }
}
