import type { SandboxStats } from '../../../../src/api/sandbox/metrics.ts';
import type { Value } from '../../../../src/api/schema.ts';
import { rfc3339 } from '../../../../src/kit/time.ts';
import type { Point } from './history-store.ts';

/** Usage as it is answered (spec, SandboxStats). */
export function toStats(usage: Point): Value<typeof SandboxStats> {
  return {
    cpuPercent: usage.cpuPercent,
    memoryPercent: usage.memoryPercent,
    memoryUsage: String(usage.memoryBytes),
    memoryLimit: String(usage.memoryLimitBytes),
    networkRxBytes: String(usage.networkRxBytes),
    networkTxBytes: String(usage.networkTxBytes),
    blockRead: String(usage.blockReadBytes),
    blockWrite: String(usage.blockWriteBytes),
    pids: usage.pids,
    timestamp: rfc3339(usage.at),
  };
}
