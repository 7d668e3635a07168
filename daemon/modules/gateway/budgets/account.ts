import type { Spent } from '../ledger/totals-store.ts';
import type { BudgetRow } from './tables.ts';
import { beginOf, endOf, WINDOWS, type WindowName } from './windows.ts';

/** How a window of an account stands, in millionths of a US dollar. */
export interface Standing {
  readonly window: WindowName;
  readonly limit: number;
  readonly spent: number;
  /** Unix time in milliseconds; undefined when it never does. */
  readonly resetsAt: number | undefined;
}

interface Window {
  /** When it began. Windows only go forward: a clock that steps back does not give a day's money again. */
  since: number;
  spent: number;
}

/** The money of one budget, in memory. Every change is one step, so nobody spends between a look and a booking. */
export class Account {
  private readonly windows: Record<WindowName, Window>;
  private held = 0;

  constructor(
    public row: BudgetRow,
    { dayMicros, monthMicros, totalMicros }: Spent,
    now: number,
  ) {
    this.windows = {
      day: { since: beginOf('day', now), spent: dayMicros },
      month: { since: beginOf('month', now), spent: monthMicros },
      total: { since: 0, spent: totalMicros },
    };
  }

  /** Held back for requests that are under way. */
  get reserved(): number {
    return this.held;
  }

  /** The first window that has no room for an amount besides what is spent and held; undefined when all have. */
  lacking(amount: number, now: number): Standing | undefined {
    return this.standings(now).find(({ limit, spent }) => spent + this.held + amount > limit);
  }

  /** The windows that have a limit. */
  standings(now: number): Standing[] {
    return WINDOWS.flatMap((window) => {
      const limit = this.row[`${window}Micros`];
      if (limit === null) return [];
      return [{ window, limit, spent: this.at(window, now).spent, resetsAt: endOf(window, now) }];
    });
  }

  hold(amount: number): void {
    this.held += amount;
  }

  release(amount: number): void {
    this.held -= amount;
  }

  /** Books what a request did cost that began at a time. */
  book(amount: number, startedAt: number, now: number): void {
    for (const window of WINDOWS) {
      const open = this.at(window, now);
      if (beginOf(window, startedAt) >= open.since) open.spent += amount;
    }
  }

  private at(window: WindowName, now: number): Window {
    const open = this.windows[window];
    const since = beginOf(window, now);
    if (since > open.since) Object.assign(open, { since, spent: 0 });
    return open;
  }
}
