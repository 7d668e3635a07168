import type { Output } from '../../../src/api/endpoint.ts';
import type { sandboxMetrics } from '../../../src/api/sandbox/metrics.ts';
import { formatBytes } from '../../../src/kit/bytes.ts';
import { sparkline } from '../../ui/graph.ts';
import type { OutputStream } from '../../ui/terminal.ts';

/** What a sandbox uses, as the daemon answers it. */
export type Stats = NonNullable<Output<typeof sandboxMetrics.GetMetrics>['stats']>;

const LABEL_WIDTH = 10;
const VALUE_WIDTH = 30;

/** The figures as names and texts. */
export function fieldsOf(stats: Stats): Array<readonly [name: string, text: string]> {
  return [
    ['cpu', percent(stats.cpuPercent)],
    [
      'memory',
      `${bytes(stats.memoryUsage)} of ${bytes(stats.memoryLimit)} (${percent(stats.memoryPercent)})`,
    ],
    ['network', `${bytes(stats.networkRxBytes)} in, ${bytes(stats.networkTxBytes)} out`],
    ['disk', `${bytes(stats.blockRead)} read, ${bytes(stats.blockWrite)} written`],
    ['processes', String(stats.pids ?? 0)],
  ];
}

/** The latest of some measurements, with the course of the others beside it. */
export function liveLines(seen: readonly Stats[], { style, columns }: OutputStream): string[] {
  const width = Math.max(columns - LABEL_WIDTH - VALUE_WIDTH - 2, 0);
  const cpu = seen.map(({ cpuPercent = 0 }) => cpuPercent);
  const courses: Readonly<Record<string, string>> = {
    cpu: sparkline(cpu.slice(-width), Math.max(100, ...cpu)),
    memory: sparkline(
      seen.slice(-width).map(({ memoryPercent }) => memoryPercent),
      100,
    ),
  };
  return fieldsOf(seen.at(-1) ?? {}).map(([name, value]) => {
    const course = width > 0 && courses[name] ? ` ${style.cyan(courses[name])}` : '';
    return `${style.dim(name.padEnd(LABEL_WIDTH))}${value.padEnd(course ? VALUE_WIDTH : 0)}${course}`;
  });
}

/** A share as text. */
export function percent(value: number | undefined): string {
  return `${(value ?? 0).toFixed(1)} %`;
}

/** A 64-bit count of bytes as text. */
export function bytes(value: string | undefined): string {
  return formatBytes(Number(value ?? 0));
}
