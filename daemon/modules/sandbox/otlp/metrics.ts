import {
  attributes,
  type DataPoint,
  type Metric,
  nanos,
  type ResourceMetrics,
  SCOPE,
} from '../../../otlp/messages.ts';
import type { Sample } from '../metrics/sampler.ts';
import type { Usage } from '../metrics/service.ts';
import { resourceOf } from './resource.ts';

/** One value that a series has now. */
type Reading = readonly [value: number, labels?: Readonly<Record<string, string>>];

/** How a figure is told (OpenTelemetry semantic conventions, Container metrics, where they have it). */
interface Instrument {
  readonly name: string;
  readonly unit: string;
  readonly about: string;
  /** `counter` only grows; `level` goes up and down and can be added up; `gauge` cannot. */
  readonly kind: 'counter' | 'level' | 'gauge';
  /** Not a whole number. */
  readonly fraction?: true;
  readonly read: (usage: Usage) => readonly Reading[];
}

const INSTRUMENTS: readonly Instrument[] = [
  {
    name: 'container.cpu.time',
    unit: 's',
    about: 'CPU time used since the start',
    kind: 'counter',
    fraction: true,
    read: (usage) => [[usage.cpuUsageUs / 1e6]],
  },
  {
    name: 'container.cpu.usage',
    unit: '{cpu}',
    about: 'Cores used since the export before',
    kind: 'gauge',
    fraction: true,
    read: (usage) => [[usage.cpuPercent / 100]],
  },
  {
    name: 'container.memory.usage',
    unit: 'By',
    about: 'Memory, without the page cache that can be dropped at once',
    kind: 'level',
    read: (usage) => [[usage.memoryBytes]],
  },
  {
    name: 'container.memory.limit',
    unit: 'By',
    about: 'Most memory it may use',
    kind: 'level',
    read: (usage) => (usage.memoryLimitBytes > 0 ? [[usage.memoryLimitBytes]] : []),
  },
  {
    name: 'container.network.io',
    unit: 'By',
    about: 'Bytes through its network interface since the start',
    kind: 'counter',
    read: (usage) => [
      [usage.networkRxBytes, { 'network.io.direction': 'receive', 'network.interface.name': 'eth0' }],
      [usage.networkTxBytes, { 'network.io.direction': 'transmit', 'network.interface.name': 'eth0' }],
    ],
  },
  {
    name: 'container.disk.io',
    unit: 'By',
    about: 'Bytes read and written since the start',
    kind: 'counter',
    read: (usage) => [
      [usage.blockReadBytes, { 'disk.io.direction': 'read' }],
      [usage.blockWriteBytes, { 'disk.io.direction': 'write' }],
    ],
  },
  {
    name: 'container.pids',
    unit: '{process}',
    about: 'Processes and threads',
    kind: 'level',
    read: (usage) => [[usage.pids]],
  },
];

/** A sample as OTLP has it. */
export function toResourceMetrics(sample: Sample, labels: Readonly<Record<string, string>>): ResourceMetrics {
  const metrics = [...INSTRUMENTS.map((instrument) => toMetric(instrument, sample)), uptimeOf(sample)];
  return {
    resource: { attributes: resourceOf(sample.row, labels) },
    scopeMetrics: [{ scope: SCOPE, metrics: metrics.filter(hasPoints) }],
  };
}

function toMetric({ name, unit, about, kind, fraction, read }: Instrument, sample: Sample): Metric {
  const times = { startTimeUnixNano: nanos(sample.startedAt), timeUnixNano: nanos(sample.usage.at) };
  const dataPoints = read(sample.usage).map(
    ([value, labels = {}]): DataPoint => ({
      attributes: attributes(labels),
      ...(kind === 'gauge' ? { timeUnixNano: times.timeUnixNano } : times),
      ...(fraction ? { asDouble: value } : { asInt: Math.round(value) }),
    }),
  );
  const naming = { name, unit, description: about };
  if (kind === 'gauge') return { ...naming, gauge: { dataPoints } };
  return { ...naming, sum: { dataPoints, aggregationTemporality: 2, isMonotonic: kind === 'counter' } };
}

function uptimeOf({ startedAt, usage }: Sample): Metric {
  const point = { attributes: [], timeUnixNano: nanos(usage.at), asDouble: (usage.at - startedAt) / 1000 };
  return {
    name: 'container.uptime',
    unit: 's',
    description: 'Time since the start',
    gauge: { dataPoints: [point] },
  };
}

function hasPoints({ gauge, sum }: Metric): boolean {
  return ((gauge ?? sum)?.dataPoints.length ?? 0) > 0;
}
