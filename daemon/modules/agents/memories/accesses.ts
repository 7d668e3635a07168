import { SECOND_MS } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import type { MemoryStore } from './store.ts';

const WRITE_MS = SECOND_MS;
/** What waits to be written; more is written at once. */
const MOST = 10_000;

/** Counts which memories are recalled, in memory first: no recall waits for the disk. */
export class Accesses {
  private counts = new Map<number, number>();
  private timer: Timer | undefined;

  constructor(
    private readonly app: Pick<App, 'clock' | 'log'>,
    private readonly store: MemoryStore,
  ) {}

  start(): void {
    this.timer = setInterval(() => this.write(), WRITE_MS);
  }

  stop(): void {
    clearInterval(this.timer);
    this.write();
  }

  /** Counts memories, named by their `seq`. */
  add(memories: readonly number[]): void {
    for (const seq of memories) this.counts.set(seq, (this.counts.get(seq) ?? 0) + 1);
    if (this.counts.size > MOST) this.write();
  }

  /** Writes what was counted, all at once. */
  write(): void {
    if (this.counts.size === 0) return;
    const counts = this.counts;
    this.counts = new Map();
    try {
      this.store.accessed(counts, this.app.clock.now());
    } catch (error) {
      this.app.log.error('it is not noted which memories were recalled', { error });
    }
  }
}
