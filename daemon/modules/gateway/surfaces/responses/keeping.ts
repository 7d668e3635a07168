import type { Log } from '../../../../log/log.ts';
import type { Kept, ResponseStore } from './store.ts';

interface Waiting {
  readonly kept: Kept;
  readonly done: () => void;
}

/**
 * Writes finished responses down. Those that end at about the same time are one transaction, so that waiting for the disk costs many of them as
 * much as one. A response is written before its end is told: what a caller has seen ending is there afterwards.
 */
export class Keeping {
  private waiting: Waiting[] = [];

  constructor(
    private readonly store: ResponseStore,
    private readonly log: Log,
  ) {}

  /** Resolves when it is on the disk; also when it could not be written, which is logged: the answer still is an answer. */
  keep(kept: Kept): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (this.waiting.push({ kept, done: resolve }) === 1) setImmediate(() => this.flush());
    return promise;
  }

  /** Writes what waits now. */
  flush(): void {
    const batch = this.waiting;
    this.waiting = [];
    if (batch.length === 0) return;
    if (!this.tryAll(batch)) for (const one of batch) this.tryAll([one]);
    for (const { done } of batch) done();
  }

  private tryAll(batch: readonly Waiting[]): boolean {
    try {
      this.store.putAll(batch.map(({ kept }) => kept));
      return true;
    } catch (error) {
      const [only] = batch;
      if (only && batch.length === 1)
        this.log.error('a response could not be kept', { response: only.kept.row.id, error });
      return false;
    }
  }
}
