import { DAY_MS } from '../../../../src/kit/time.ts';

/** The stretches of time that a budget can have a limit for. */
export const WINDOWS = ['day', 'month', 'total'] as const;

/** One of them. */
export type WindowName = (typeof WINDOWS)[number];

/** When the window of a time began, Unix time in milliseconds; days and months are those of UTC. */
export function beginOf(window: WindowName, at: number): number {
  const date = new Date(at);
  switch (window) {
    case 'day':
      return at - (at % DAY_MS);
    case 'month':
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
    default:
      return 0;
  }
}

/** When the next one begins; undefined when none does. */
export function endOf(window: WindowName, at: number): number | undefined {
  const date = new Date(at);
  switch (window) {
    case 'day':
      return beginOf('day', at) + DAY_MS;
    case 'month':
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
    default:
      return undefined;
  }
}
