import { Counter, type Registry } from 'prom-client';

/** A counter that is added to with every request. */
export interface Tally {
  /** Adds to the series with these values of the labels, in the order in which they were declared. */
  add(amount: number, ...values: readonly string[]): void;
}

/** How a tally is declared, as in prom-client. */
export interface TallyOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
}

interface Series {
  readonly labels: Readonly<Record<string, string>>;
  pending: number;
}

/** Parts the values of labels in the key of a series; no value contains it. */
const SEPARATOR = '\u0000';

/**
 * A counter whose series are found by one look into a map. prom-client hashes sorted labels with every addition, so it
 * gets the sums when somebody scrapes.
 */
export function tally(registry: Registry, { name, help, labelNames }: TallyOptions): Tally {
  const all = new Map<string, Series>();
  new Counter({
    name,
    help,
    labelNames: [...labelNames],
    registers: [registry],
    collect() {
      for (const series of all.values()) {
        this.inc(series.labels, series.pending);
        series.pending = 0;
      }
    },
  });
  return {
    add(amount, ...values) {
      const key = values.join(SEPARATOR);
      const known = all.get(key);
      if (known) known.pending += amount;
      else all.set(key, { labels: labelsOf(labelNames, values), pending: amount });
    },
  };
}

function labelsOf(names: readonly string[], values: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name, i) => [name, values[i] ?? '']));
}
