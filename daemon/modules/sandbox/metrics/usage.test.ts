import { expect, test } from 'bun:test';
import { usageOf } from './usage.ts';

const stats = {
  cpuUsageUs: 3_000_000,
  memoryBytes: 256,
  memoryLimitBytes: 1024,
  networkRxBytes: 0,
  networkTxBytes: 0,
  blockReadBytes: 0,
  blockWriteBytes: 0,
  pids: 1,
};

test.each([
  ['half a core', 2_500_000, 50],
  ['two cores', 1_000_000, 200],
  ['nothing', 3_000_000, 0],
  ['what a box has used since it was started again', 9_000_000, 300],
])('cpu is of one core: %s', (_, before, percent) => {
  const usage = usageOf(
    stats,
    { cpuUsageUs: before, atUs: 0 },
    { cpuUsageUs: stats.cpuUsageUs, atUs: 1_000_000 },
    7,
  );
  expect(usage).toMatchObject({ cpuPercent: percent, memoryPercent: 25, at: 7 });
});

test('without a limit no share of it is used, and two readings at one time say nothing absurd', () => {
  const reading = { cpuUsageUs: 3_000_000, atUs: 5 };
  expect(usageOf({ ...stats, memoryLimitBytes: 0 }, reading, reading, 7)).toMatchObject({
    cpuPercent: 0,
    memoryPercent: 0,
  });
});
