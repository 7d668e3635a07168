import { describe, expect, test } from 'bun:test';
import type { ContainerStats } from 'dockerode';
import { toBoxStats } from './stats.ts';

/** What the engine answers for a box, as far as it is read; the form is that of Docker 20.10. */
function figures(stats: Record<string, number>, op: readonly [string, string]): ContainerStats {
  const entry = (name: string, value: number) => ({ major: 8, minor: 0, op: name, value });
  return {
    cpu_stats: { cpu_usage: { total_usage: 5_000_000 } },
    memory_stats: { usage: 1000, limit: 4000, stats },
    pids_stats: { current: 3 },
    networks: { eth0: { rx_bytes: 1, tx_bytes: 2 }, eth1: { rx_bytes: 10, tx_bytes: 20 } },
    blkio_stats: { io_service_bytes_recursive: [entry(op[0], 7), entry(op[1], 8), entry(op[0], 100)] },
  } as unknown as ContainerStats;
}

describe('figures of an engine on another machine', () => {
  const wanted = {
    cpuUsageUs: 5_000,
    memoryBytes: 900,
    memoryLimitBytes: 4000,
    networkRxBytes: 11,
    networkTxBytes: 22,
    blockReadBytes: 107,
    blockWriteBytes: 8,
    pids: 3,
  };

  test.each([
    ['cgroup v1', figures({ total_inactive_file: 100 }, ['Read', 'Write'])],
    ['cgroup v2', figures({ inactive_file: 100 }, ['read', 'write'])],
  ])('are read with %s', (_, answer) => {
    expect(toBoxStats(answer)).toEqual(wanted);
  });

  test('of a box without a network or disk are zero there', () => {
    const { networks: _, ...rest } = figures({}, ['Read', 'Write']);
    const bare = { ...rest, blkio_stats: { io_service_bytes_recursive: null } } as unknown as ContainerStats;
    expect(toBoxStats(bare)).toMatchObject({ networkRxBytes: 0, blockReadBytes: 0, memoryBytes: 1000 });
  });
});
