import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Config } from '../../daemon/config/config.ts';
import { openDatabase } from '../../daemon/db/open.ts';
import { silentLog } from '../../daemon/log/log.ts';
import { Account } from '../../daemon/modules/gateway/budgets/account.ts';
import { RequestBudgets } from '../../daemon/modules/gateway/budgets/request-budgets.ts';
import { RequestLedger } from '../../daemon/modules/gateway/ledger/ledger.ts';
import { recordOf } from '../../daemon/modules/gateway/ledger/testing.ts';
import { TotalsStore } from '../../daemon/modules/gateway/ledger/totals-store.ts';
import { RequestLimits } from '../../daemon/modules/gateway/limits/request-limits.ts';
import type { ModelCall } from '../../daemon/modules/gateway/pipeline/call.ts';
import { PriceBook } from '../../daemon/modules/gateway/prices/price-book.ts';
import { loadDataset } from '../../daemon/modules/providers/index.ts';
import type { RuntimeConfigValue } from '../../daemon/modules/settings/index.ts';
import { migrations } from '../../migrations/index.ts';
import { systemClock } from '../../src/kit/time.ts';
import { quantile } from './kit/quantile.ts';
import { atLeast, atMost, digits, type Goal, type Line, Report } from './kit/report.ts';
import { sizeFromEnv } from './kit/setting.ts';

const RECORDS = sizeFromEnv('BENCH_RECORDS', 20_000);
const CALLS = sizeFromEnv('BENCH_CALLS', 100_000);
/** Records a second of the steady run. */
const RATE = 2000;
const TICK_MS = 1;
const KEYS = 20;
const MODELS = ['openai/gpt-4o', 'anthropic/claude-sonnet-4-5', 'google/gemini-2.5-pro', 'openai/gpt-5'];

const settings = {
  of: () =>
    ({
      features: { enableRequestLogging: true },
      rateLimit: { enabled: true, requestsPerMinute: 1_000_000, burst: 1_000_000, keySource: 'correlation' },
    }) as RuntimeConfigValue,
};

/**
 * What it costs to count and to write down: a request's share on the hot path, how fast the log is written, and how
 * late the event loop is meanwhile. Beside it the price library of the data set and a bare insert of the same row.
 */
export async function benchLedger(report: Report): Promise<void> {
  await benchHotPath(report);
  await benchWriting(report);
}

async function benchHotPath(report: Report): Promise<void> {
  const dataset = await loadDataset();
  const prices = new PriceBook(systemClock);
  await prices.open();
  const limits = new RequestLimits(settings, systemClock);
  const budgets = new RequestBudgets(prices, systemClock);
  const caller = { tenant: 'org_a', actor: 'key_1', role: 'member', via: 'api-key' } as const;
  const call = { caller, peer: () => '127.0.0.1' } as unknown as ModelCall;
  const request = { model: 'm', max_tokens: 500, messages: [{ role: 'user', content: 'word '.repeat(200) }] };
  const row = {
    tenant: 'org_a',
    subject: 'tenant',
    dayMicros: 1e15,
    monthMicros: null,
    totalMicros: null,
    isHard: true,
    refusesUnpriced: false,
    createdAt: 0,
    updatedAt: 0,
  };
  const usage = { input: 1200, output: 300, cachedInput: 400 };
  const library = { input_tokens: 1200, output_tokens: 300, cache_read_tokens: 400 };
  const without = microseconds(() => budgets.reserve(caller, 'openai/gpt-4o', request)?.settle(1));
  budgets.open(new Account(row, { dayMicros: 0, monthMicros: 0, totalMicros: 0 }, Date.now()));
  const costs: ReadonlyArray<readonly [string, number, number]> = [
    ['limit', microseconds(() => limits.admit(call)), 10],
    ['price', microseconds(() => prices.cost('openai/gpt-4o', usage)), 5],
    [
      'price by the library',
      microseconds(() => dataset.costOf('openai', 'gpt-4o', library), CALLS / 50),
      Number.NaN,
    ],
    ['reserve and settle, no budget', without, 1],
    [
      'reserve and settle, 1 kB of prompt',
      microseconds(() => budgets.reserve(caller, 'openai/gpt-4o', request)?.settle(1)),
      20,
    ],
  ];
  report.table({
    title: 'on the way of a request',
    columns: ['us a call', 'calls/s'],
    lines: costs.map(([what, us, most]) => ({
      what,
      cells: [digits(us), digits(1e6 / us)],
      ...(Number.isNaN(most) ? {} : { goals: [atMost(us, most, 'us')] }),
    })),
  });
}

async function benchWriting(report: Report): Promise<void> {
  const idle = await lateness(async () => {
    await Bun.sleep(2000);
  });
  const burst = await written((ledger) => {
    for (let i = 0; i < RECORDS; i++) ledger.record(made(i));
    return Promise.resolve(RECORDS);
  });
  const steady = await written(async (ledger) => {
    const begun = performance.now();
    let count = 0;
    while (count < RECORDS) {
      const due = Math.min(RECORDS, ((performance.now() - begun) / 1000) * RATE);
      for (; count < due; count++) ledger.record(made(count));
      await Bun.sleep(1);
    }
    return count;
  });
  report.table({
    title: `${RECORDS} records written down`,
    columns: ['records/s', 'late p50', 'late p99', 'late most', 'lost'],
    lines: [
      { what: 'nothing to write', cells: ['-', ...shown(idle), '-'] },
      line('all at once', burst, [atLeast(burst.perSecond, 10_000, '/s')]),
      line(`${RATE} a second`, steady, [
        atMost(quantile(steady.late, 0.99) - quantile(idle, 0.99), 5, 'ms over nothing'),
      ]),
    ],
    notes: [
      'late: milliseconds by which a timer of 1 ms was late while they were written',
      'lost: records that are in the sums and not in the log',
    ],
  });
}

interface Written {
  readonly late: readonly number[];
  readonly perSecond: number;
  readonly shed: number;
}

async function written(work: (ledger: RequestLedger) => Promise<number>): Promise<Written> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-bench-ledger-'));
  const db = openDatabase(join(dir, 'svc.db'), migrations);
  const config = new Config({ flags: { 'data.dir': dir } });
  const ledger = new RequestLedger(
    { config, clock: systemClock, log: silentLog },
    new TotalsStore(db),
    settings,
  );
  ledger.start();
  try {
    let count = 0;
    const begun = performance.now();
    const late = await lateness(async () => {
      count = await work(ledger);
      await ledger.settled();
    });
    const seconds = (performance.now() - begun) / 1000;
    return { late, perSecond: count / seconds, shed: ledger.shed };
  } finally {
    await ledger.stop();
    db.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** By how many milliseconds timers were late while it went on. */
async function lateness(work: () => Promise<void>): Promise<number[]> {
  const late: number[] = [];
  let before = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    late.push(Math.max(0, now - before - TICK_MS));
    before = now;
  }, TICK_MS);
  await work();
  clearInterval(timer);
  return late;
}

function line(what: string, { late, perSecond, shed }: Written, goals: readonly Goal[]): Line {
  return {
    what,
    cells: [digits(perSecond), ...shown(late), String(shed)],
    goals: [...goals, atMost(shed, 0, 'lost')],
  };
}

function shown(late: readonly number[]): string[] {
  return [quantile(late, 0.5), quantile(late, 0.99), Math.max(0, ...late)].map(digits);
}

function made(i: number) {
  return recordOf({ actor: `key_${i % KEYS}`, model: MODELS[i % MODELS.length], startedAt: Date.now() });
}

function microseconds(work: () => unknown, calls = CALLS): number {
  for (let i = 0; i < calls / 10; i++) work();
  const begun = performance.now();
  for (let i = 0; i < calls; i++) work();
  return ((performance.now() - begun) / calls) * 1000;
}

if (import.meta.main) await Report.of(benchLedger);
