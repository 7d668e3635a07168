import { SECOND_MS } from '../../../../src/kit/time.ts';
import { Spread } from '../../../metrics/spread.ts';
import { attributes, type Fixed64, type KeyValue, type Metric, nanos } from '../../../otlp/messages.ts';
import type { RequestRecord } from '../pipeline/record.ts';
import { answererOf, operationOf, providerName } from './semantics.ts';

/** The bounds that the GenAI conventions ask for. */
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power);
const SECONDS = Array.from({ length: 14 }, (_, power) => 0.01 * 2 ** power);
const FIRST_SECONDS = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

/** Most series of one tenant. What comes after them is one of a model `other`. */
const MOST_SERIES = 200;
const OTHER = 'other';

interface Series {
  readonly labels: Labels;
  readonly duration: Spread;
  readonly first: Spread;
  readonly input: Spread;
  readonly output: Spread;
}

interface Labels {
  readonly operation: string;
  readonly provider: string;
  readonly model: string;
  readonly error: string;
}

/** What the requests of one tenant took, since the start (OpenTelemetry GenAI conventions, metrics). */
export class Measures {
  private readonly all = new Map<string, Series>();
  private isTold = true;

  constructor(private readonly startedAt: number) {}

  /** Whether there is nothing new since it was last told. */
  get isQuiet(): boolean {
    return this.isTold;
  }

  observe(record: RequestRecord): void {
    this.isTold = false;
    const { duration, first, input, output } = this.seriesOf(record);
    duration.add(record.durationMs / SECOND_MS);
    if (record.streamed && record.firstByteMs !== undefined) first.add(record.firstByteMs / SECOND_MS);
    if (!record.usage) return;
    input.add(record.usage.input);
    output.add(record.usage.output);
  }

  /** All of it, as it is now. */
  tell(now: number): Metric[] {
    this.isTold = true;
    const times = { startTimeUnixNano: nanos(this.startedAt), timeUnixNano: nanos(now) };
    const series = [...this.all.values()];
    const tokens = series.flatMap(({ labels, input, output }) => [
      pointOf(input, keyValues(labels, 'input'), times),
      pointOf(output, keyValues(labels, 'output'), times),
    ]);
    const points = (pick: (one: Series) => Spread) =>
      series.map((one) => pointOf(pick(one), keyValues(one.labels), times));
    return [
      histogram(
        'gen_ai.client.operation.duration',
        's',
        'Time of a request',
        points((one) => one.duration),
      ),
      histogram('gen_ai.client.token.usage', '{token}', 'Tokens of a request', tokens),
      histogram(
        'gen_ai.server.time_to_first_token',
        's',
        'Time until the first content of a streamed answer',
        points((one) => one.first),
      ),
    ].filter(({ histogram: { dataPoints } }) => dataPoints.length > 0);
  }

  private seriesOf(record: RequestRecord): Series {
    const labels = labelsOf(record);
    return this.find(labels) ?? (this.all.size < MOST_SERIES ? this.make(labels) : this.rest(labels));
  }

  private rest({ operation, error }: Labels): Series {
    const labels = { operation, provider: OTHER, model: OTHER, error: error === '' ? '' : '_OTHER' };
    return this.find(labels) ?? this.make(labels);
  }

  private find(labels: Labels): Series | undefined {
    return this.all.get(keyOf(labels));
  }

  private make(labels: Labels): Series {
    const series = {
      labels,
      duration: new Spread(SECONDS),
      first: new Spread(FIRST_SECONDS),
      input: new Spread(TOKENS),
      output: new Spread(TOKENS),
    };
    this.all.set(keyOf(labels), series);
    return series;
  }
}

function keyOf({ operation, provider, model, error }: Labels): string {
  return `${operation}\0${provider}\0${model}\0${error}`;
}

/** A model has a series when it has answered: callers make up names, and each would be one. */
function labelsOf(record: RequestRecord): Labels {
  const { provider = '', model = '' } = answererOf(record);
  return { operation: operationOf(record.surface), provider, model, error: record.error ?? '' };
}

function keyValues({ operation, provider, model, error }: Labels, tokens?: 'input' | 'output'): KeyValue[] {
  return attributes({
    'gen_ai.operation.name': operation,
    'gen_ai.provider.name': providerName(provider),
    'gen_ai.request.model': model,
    'gen_ai.response.model': model,
    'gen_ai.token.type': tokens,
    'error.type': error,
  });
}

type Point = NonNullable<Metric['histogram']>['dataPoints'][number];
type Times = { readonly startTimeUnixNano: Fixed64; readonly timeUnixNano: Fixed64 };

function pointOf({ count, sum, counts, bounds }: Spread, labels: KeyValue[], times: Times): Point {
  return { ...times, attributes: labels, count, sum, bucketCounts: [...counts], explicitBounds: bounds };
}

function histogram(
  name: string,
  unit: string,
  description: string,
  points: readonly Point[],
): Metric & { readonly histogram: NonNullable<Metric['histogram']> } {
  const dataPoints = points.filter(({ count }) => count > 0);
  return { name, unit, description, histogram: { dataPoints, aggregationTemporality: 2 } };
}
