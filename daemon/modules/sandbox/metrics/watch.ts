import { SECOND_MS } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import type { LifecycleService } from '../lifecycle/service.ts';
import type { State } from '../lifecycle/states.ts';
import type { Sandbox } from '../tables.ts';
import type { StatsService, Usage } from './service.ts';

/** Milliseconds between two measurements (spec, Metrics watch interval). */
export const WATCH_MS = 2 * SECOND_MS;

/** The end of a stream of measurements. */
export interface WatchEnd {
  readonly sandboxId: string;
  readonly state: State;
  /** What happened, for a person. */
  readonly reason: string;
}

/** What a watcher gets: a measurement, or the end. */
export type Watched = { readonly usage: Usage } | { readonly end: WatchEnd };

/** Streams what sandboxes use. However many watch one sandbox, it is measured once for all of them. */
export class Watches {
  private readonly channels = new Map<string, Channel>();

  constructor(
    private readonly app: App,
    private readonly lifecycle: LifecycleService,
    private readonly stats: StatsService,
  ) {
    app.bus.on('sandbox.event', ({ sandboxId, message }) => this.channels.get(sandboxId)?.lookAt(message));
  }

  /** How many sandboxes are measured for watchers now. */
  get open(): number {
    return this.channels.size;
  }

  /**
   * Measurements of a sandbox, the first at once, until it stops or the signal fires. A watcher that reads slowly
   * misses some; none piles up. Errors: sandbox_not_found, sandbox_wrong_state.
   */
  watch(tenant: string, idOrName: string, signal: AbortSignal): AsyncGenerator<Watched> {
    return this.follow(this.stats.running(tenant, idOrName), signal);
  }

  private async *follow(row: Sandbox, signal: AbortSignal): AsyncGenerator<Watched> {
    if (signal.aborted) return;
    const channel = this.join(row);
    const leave = () => channel.ring();
    signal.addEventListener('abort', leave);
    try {
      for (let seen = 0; !signal.aborted; ) {
        if (channel.count === seen) await channel.next();
        if (channel.count === seen || !channel.last) continue;
        seen = channel.count;
        yield channel.last;
        if ('end' in channel.last) return;
      }
    } finally {
      signal.removeEventListener('abort', leave);
      this.leave(row.id, channel);
    }
  }

  private join(row: Sandbox): Channel {
    let channel = this.channels.get(row.id);
    if (!channel) {
      channel = new Channel(row, this.lifecycle, this.stats, this.app);
      this.channels.set(row.id, channel);
      channel.start();
    }
    channel.watchers++;
    return channel;
  }

  private leave(id: string, channel: Channel): void {
    if (--channel.watchers > 0) return;
    channel.stop();
    if (this.channels.get(id) === channel) this.channels.delete(id);
  }
}

/** The measurements of one sandbox, while somebody watches. Only the last is kept. */
class Channel {
  watchers = 0;
  /** How many measurements there were; tells a watcher whether `last` is new. */
  count = 0;
  last: Watched | undefined;
  private timer: Timer | undefined;
  private stopped = false;
  private waiting = Promise.withResolvers<void>();

  constructor(
    private readonly row: Sandbox,
    private readonly lifecycle: LifecycleService,
    private readonly stats: StatsService,
    private readonly app: App,
  ) {}

  start(): void {
    void this.measure();
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  /** Resolves at the next measurement, or when somebody rings. */
  next(): Promise<void> {
    return this.waiting.promise;
  }

  /** Wakes everybody who waits. */
  ring(): void {
    const { resolve } = this.waiting;
    this.waiting = Promise.withResolvers();
    resolve();
  }

  /** Something happened to the sandbox: when it does not run any more, this is the end. */
  lookAt(reason: string): void {
    const state = this.lifecycle.store.find(this.row.tenant, this.row.id)?.state ?? 'terminated';
    if (this.stopped || state === 'running' || state === 'stopping') return;
    this.stop();
    this.publish({ end: { sandboxId: this.row.id, state, reason } });
  }

  private async measure(): Promise<void> {
    const due = performance.now() + WATCH_MS;
    try {
      this.publish({ usage: await this.stats.measure(this.row.tenant, this.row.id) });
    } catch (error) {
      this.app.log.debug('a watched sandbox could not be measured', { sandbox: this.row.id, error });
      this.lookAt('It does not run any more');
    }
    if (!this.stopped)
      this.timer = setTimeout(() => void this.measure(), Math.max(due - performance.now(), 0));
  }

  private publish(watched: Watched): void {
    if (this.stopped && !('end' in watched)) return;
    this.last = watched;
    this.count++;
    this.ring();
  }
}
