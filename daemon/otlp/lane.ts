import { MINUTE_MS, SECOND_MS } from '../../src/kit/time.ts';
import type { Log } from '../log/log.ts';
import type { Signal } from './messages.ts';
import type { Outcome } from './sender.ts';

/** A request that waits to be sent. */
export interface Batch {
  readonly signal: Signal;
  readonly body: Uint8Array;
  /** How many sandboxes or spans it tells of. */
  readonly items: number;
  /** When it was made, on the clock of performance.now(). */
  readonly madeAt: number;
}

/** What became of the items of all lanes. */
export interface Tally {
  sent: number;
  dropped: number;
}

/** Most that waits for one tenant. */
const MAX_BATCHES = 64;
const MAX_BYTES = 8 * 1024 * 1024;
/** What could not be sent for so long is of no use any more. */
const MAX_AGE_MS = 10 * MINUTE_MS;
const FIRST_PAUSE_MS = SECOND_MS;
const LONGEST_PAUSE_MS = MINUTE_MS;
/** A receiver that goes on failing is mentioned once in this time. */
const COMPLAIN_MS = 10 * MINUTE_MS;

/** What is sent for one tenant, in order, one request at a time. When too much waits the oldest is dropped. */
export class Lane {
  private readonly queue: Batch[] = [];
  private bytes = 0;
  private failures = 0;
  private complainedAt = Number.NEGATIVE_INFINITY;
  private wake = Promise.withResolvers<void>();
  private readonly stopping = new AbortController();
  private readonly work: Promise<void>;

  constructor(
    private readonly tenant: string,
    private readonly deliver: (batch: Batch, stop: AbortSignal) => Promise<Outcome>,
    private readonly tally: Tally,
    private readonly log: Log,
  ) {
    this.work = this.run();
  }

  add(batch: Batch): void {
    this.queue.push(batch);
    this.bytes += batch.body.length;
    while (this.queue.length > MAX_BATCHES || this.bytes > MAX_BYTES) this.drop();
    if (this.failures === 0) this.ring();
  }

  /** The receiver may be another one now: a pause is over. */
  retry(): void {
    this.failures = 0;
    this.ring();
  }

  /** Ends it. What waits is given `graceMs` to leave; the rest is dropped. */
  async close(graceMs: number): Promise<void> {
    const end = AbortSignal.timeout(graceMs);
    const late = Promise.withResolvers<void>();
    end.addEventListener('abort', () => late.resolve());
    if (this.failures === 0)
      while (this.queue.length > 0 && !end.aborted) await Promise.race([this.idle(), late.promise]);
    this.stopping.abort();
    this.ring();
    await this.work;
    while (this.queue.length > 0) this.drop();
  }

  private async run(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      const batch = this.queue[0];
      if (!batch) await this.pause();
      else await this.attempt(batch);
    }
  }

  private async attempt(batch: Batch): Promise<void> {
    const outcome = await this.deliver(batch, this.stopping.signal);
    if (this.stopping.signal.aborted && outcome.kind === 'later') return;
    if (outcome.kind === 'sent') this.sent(batch, outcome);
    else if (outcome.kind === 'refused') {
      this.complain(outcome);
      this.drop(batch);
    } else await this.later(batch, outcome);
  }

  private sent(batch: Batch, { message, rejected = 0 }: Outcome): void {
    this.take(batch);
    this.tally.sent += Math.max(batch.items - rejected, 0);
    this.tally.dropped += rejected;
    if (rejected > 0) this.complain({ kind: 'sent', message });
    else if (this.failures > 0) this.log.info('figures are exported again', { tenant: this.tenant });
    this.failures = 0;
  }

  private async later(batch: Batch, outcome: Outcome): Promise<void> {
    this.failures++;
    this.complain(outcome);
    if (performance.now() - batch.madeAt > MAX_AGE_MS) return this.drop(batch);
    const most = Math.min(FIRST_PAUSE_MS * 2 ** (this.failures - 1), LONGEST_PAUSE_MS);
    await this.pause(outcome.pauseMs ?? most / 2 + Math.random() * (most / 2));
  }

  /** Waits for the time, or until somebody rings; without a time until somebody rings. */
  private async pause(ms?: number): Promise<void> {
    const timer = ms === undefined ? undefined : setTimeout(() => this.ring(), ms);
    await this.wake.promise;
    clearTimeout(timer);
    this.wake = Promise.withResolvers();
  }

  private ring(): void {
    this.wake.resolve();
  }

  private async idle(): Promise<void> {
    await Bun.sleep(20);
  }

  /** Takes a batch out, the oldest when none is named; whether it was there. */
  private take(batch = this.queue[0]): Batch | undefined {
    const at = batch ? this.queue.indexOf(batch) : -1;
    const [taken] = at >= 0 ? this.queue.splice(at, 1) : [];
    this.bytes -= taken?.body.length ?? 0;
    return taken;
  }

  private drop(batch?: Batch): void {
    this.tally.dropped += this.take(batch)?.items ?? 0;
  }

  private complain({ message }: Outcome): void {
    const now = performance.now();
    if (now - this.complainedAt < COMPLAIN_MS) return;
    this.complainedAt = now;
    this.log.warn('figures could not be exported', {
      tenant: this.tenant,
      reason: message,
      waiting: this.queue.length,
    });
  }
}
