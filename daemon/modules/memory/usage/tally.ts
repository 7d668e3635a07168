import { type Clock, HOUR_MS } from '../../../../src/kit/time.ts';

/** What can be done with memory. */
export type UseKind = 'query' | 'store' | 'delete';

/** Uses of one collection of one kind in one hour. */
export interface Uses {
  readonly tenant: string;
  /** Its beginning, Unix time in milliseconds. */
  readonly hour: number;
  /** Name; empty where none was found. */
  readonly collection: string;
  readonly kind: UseKind;
  count: number;
  errors: number;
  totalMs: number;
}

/** Counts uses in memory until they are taken to be written. */
export class Tally {
  private sums = new Map<string, Uses>();

  constructor(private readonly clock: Clock) {}

  /** Does something and counts it, however it ends; under the name of a collection only when that is there. */
  async count<T>(
    use: Pick<Uses, 'tenant' | 'collection' | 'kind'>,
    isThere: () => boolean,
    work: () => T | Promise<T>,
  ): Promise<T> {
    const begun = performance.now();
    try {
      const result = await work();
      this.add(use, performance.now() - begun, 0);
      return result;
    } catch (error) {
      this.add(isThere() ? use : { ...use, collection: '' }, performance.now() - begun, 1);
      throw error;
    }
  }

  /** What was counted since it was last taken. */
  take(): Uses[] {
    const taken = [...this.sums.values()];
    this.sums = new Map();
    return taken;
  }

  private add(
    { tenant, collection, kind }: Pick<Uses, 'tenant' | 'collection' | 'kind'>,
    ms: number,
    errors: number,
  ) {
    const hour = Math.floor(this.clock.now() / HOUR_MS) * HOUR_MS;
    const key = JSON.stringify([tenant, hour, collection, kind]);
    const sum = this.sums.get(key) ?? { tenant, hour, collection, kind, count: 0, errors: 0, totalMs: 0 };
    sum.count++;
    sum.errors += errors;
    sum.totalMs += ms;
    this.sums.set(key, sum);
  }
}
