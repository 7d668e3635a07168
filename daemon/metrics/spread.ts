import { Histogram, type Registry } from 'prom-client';

/** How values are spread over buckets, since the start. */
export class Spread {
  /** One more than bounds: the last is what is above all of them. Not added up. */
  readonly counts: number[];
  count = 0;
  sum = 0;

  constructor(
    /** Upper bounds, included, in ascending order. */
    readonly bounds: readonly number[],
  ) {
    this.counts = new Array(bounds.length + 1).fill(0);
  }

  add(value: number): void {
    let bucket = 0;
    while (bucket < this.bounds.length && value > (this.bounds[bucket] as number)) bucket++;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.count++;
    this.sum += value;
  }
}

/** A histogram that is added to with every request. */
export interface SpreadFigure {
  /** Adds to the series with these values of the labels, in the order in which they were declared. */
  observe(value: number, ...values: readonly string[]): void;
}

/** How one is declared, as in prom-client. */
export interface SpreadOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  readonly buckets: readonly number[];
}

type Labels = Readonly<Record<string, string>>;

interface Series {
  readonly labels: Labels;
  readonly spread: Spread;
}

/** Parts the values of labels in the key of a series; no value contains it. */
const SEPARATOR = '\u0000';

/**
 * A histogram whose series are found by one look into a map; its lines are made when somebody scrapes. prom-client hashes
 * sorted labels with every observation.
 */
export function spreadFigure(registry: Registry, options: SpreadOptions): SpreadFigure {
  const all = new Map<string, Series>();
  new Told(registry, options, all);
  const { labelNames, buckets } = options;
  return {
    observe(value, ...values) {
      const key = values.join(SEPARATOR);
      let series = all.get(key);
      if (!series) {
        const labels = Object.fromEntries(labelNames.map((name, i) => [name, values[i] ?? '']));
        series = { labels, spread: new Spread(buckets) };
        all.set(key, series);
      }
      series.spread.add(value);
    },
  };
}

interface Line {
  readonly metricName: string;
  readonly labels: Labels;
  readonly value: number;
}

/** A histogram of prom-client that tells what was counted elsewhere. */
class Told extends Histogram<string> {
  constructor(
    registry: Registry,
    private readonly options: SpreadOptions,
    private readonly all: ReadonlyMap<string, Series>,
  ) {
    const { name, help, labelNames, buckets } = options;
    super({ name, help, labelNames: [...labelNames], buckets: [...buckets], registers: [registry] });
  }

  /** What the registry asks for when it makes its text; not in the types of prom-client. */
  async getForPromString() {
    const { name, help } = this.options;
    const values = this.all.values().flatMap((series) => linesOf(name, series));
    return { name, help, type: 'histogram', values: values.toArray() };
  }
}

function* linesOf(name: string, { labels, spread }: Series): Generator<Line> {
  let below = 0;
  for (const [bucket, bound] of spread.bounds.entries()) {
    below += spread.counts[bucket] ?? 0;
    yield { metricName: `${name}_bucket`, labels: { le: String(bound), ...labels }, value: below };
  }
  yield { metricName: `${name}_bucket`, labels: { le: '+Inf', ...labels }, value: spread.count };
  yield { metricName: `${name}_sum`, labels, value: spread.sum };
  yield { metricName: `${name}_count`, labels, value: spread.count };
}
