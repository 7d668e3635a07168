import type { BoxStats } from '../drivers/driver.ts';
import type { Usage } from './service.ts';

/** The CPU time that a box had used at a time, both in microseconds. */
export interface Reading {
  readonly cpuUsageUs: number;
  /** On the clock of performance.now(). */
  readonly atUs: number;
}

/** The reading that figures are, now. */
export function readingOf({ cpuUsageUs }: BoxStats): Reading {
  return { cpuUsageUs, atUs: performance.now() * 1000 };
}

/** Figures with what two readings make of them. A counter that went back (a box started again) counts from 0. */
export function usageOf(stats: BoxStats, before: Reading, after: Reading, at: number): Usage {
  const since = after.cpuUsageUs < before.cpuUsageUs ? 0 : before.cpuUsageUs;
  const passed = Math.max(after.atUs - before.atUs, 1);
  return {
    ...stats,
    cpuPercent: round((100 * (after.cpuUsageUs - since)) / passed),
    memoryPercent: stats.memoryLimitBytes > 0 ? round((100 * stats.memoryBytes) / stats.memoryLimitBytes) : 0,
    at,
  };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
