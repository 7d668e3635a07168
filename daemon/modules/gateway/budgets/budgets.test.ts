import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { AppError } from '../../../../src/errors/app-error.ts';
import { DAY_MS, HOUR_MS } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import type { Caller } from '../../../http/route.ts';
import { openTestApp } from '../../../testing/app.ts';
import type { RuntimeConfigValue } from '../../settings/index.ts';
import { RequestLedger } from '../ledger/ledger.ts';
import { recordOf } from '../ledger/testing.ts';
import { TotalsStore } from '../ledger/totals-store.ts';
import type { Reservation } from '../pipeline/stages.ts';
import { PriceSheet } from '../prices/price-sheet.ts';
import { RequestBudgets } from './request-budgets.ts';
import { type BudgetChange, BudgetService } from './service.ts';

const START = Date.UTC(2026, 0, 31, 22);
const KEYS = ['key_01m7zqm6v0jp3j50cqgbjd8dcq', 'key_01m7zqm6v0jp3j50cqgbjd8dcr'] as const;
/** One dollar for a thousand tokens of answer. */
const SHEET = new PriceSheet({ input_mtok: 0, output_mtok: 1000 });
const settings = { of: () => ({ features: { enableRequestLogging: true } }) as RuntimeConfigValue };

let dir: string;
let app: App;
let time: { at: number };
let ledger: RequestLedger;
let budgets: RequestBudgets;
let service: BudgetService;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-budgets-'));
  time = { at: START };
  app = openTestApp({ now: () => time.at }, { 'data.dir': dir });
  begin();
});

afterEach(async () => {
  await ledger.stop();
  app.db.close();
  rmSync(dir, { recursive: true, force: true });
});

/** As a start of the daemon does. */
function begin(): void {
  const totals = new TotalsStore(app.db);
  ledger = new RequestLedger(app, totals, settings);
  const of = (model: string) => (model.startsWith('priced/') ? { sheet: SHEET } : undefined);
  budgets = new RequestBudgets({ of }, app.clock);
  service = new BudgetService(app, ledger, totals, budgets);
  ledger.onRecord((record) => budgets.book(record));
  ledger.start();
  service.start();
}

const callerOf = (actor: string, tenant = 'org_a'): Caller => ({
  tenant,
  actor,
  role: 'member',
  via: 'api-key',
});
const OWNER = callerOf('usr_owner');
const set = (subject: string, change: BudgetChange) => service.set(OWNER, subject, change);

/** Reserves for an answer of at most so many tokens, which are as many thousandths of a dollar. */
function reserve(tokens: number, { actor = KEYS[0] as string, tenant = 'org_a', model = 'priced/m' } = {}) {
  return budgets.reserve(callerOf(actor, tenant), model, { model, max_tokens: tokens } as never);
}

/** Lets go of a reservation and books, in one step, as a settlement does. */
function settle(
  reservation: Reservation | undefined,
  tokens: number,
  actor: string = KEYS[0],
  tenant = 'org_a',
): void {
  reservation?.settle(tokens * 1000);
  ledger.record(
    recordOf({ tenant, actor, costMicros: tokens * 1000, startedAt: time.at, model: 'priced/m' }),
  );
}

function refusal(work: () => unknown): AppError | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

const dayOf = (subject: string) => {
  const standing = budgets
    .find('org_a', subject)
    ?.standings(time.at)
    .find(({ window }) => window === 'day');
  return standing?.spent;
};

describe('a budget', () => {
  test('refuses what may exceed it, as 429 budget_spent, and says how it stands', async () => {
    await set('tenant', { dayUsd: 1 });
    settle(reserve(600), 600);
    const held = reserve(300);
    const error = refusal(() => reserve(200));
    expect(error).toMatchObject({ code: 'budget_spent', http: 429 });
    expect(error?.message).toContain('$1.00: $0.60 are spent, $0.30 held');
    held?.settle(0);
    expect(refusal(() => reserve(200))).toBeUndefined();
  });

  test('of a key holds that key only; of the tenant it holds all', async () => {
    await set(KEYS[0], { dayUsd: 1 });
    await set('tenant', { dayUsd: 1.5 });
    settle(reserve(1000), 1000);
    expect(refusal(() => reserve(10))?.message).toContain(KEYS[0]);
    expect(refusal(() => reserve(500, { actor: KEYS[1] }))).toBeUndefined();
    expect(refusal(() => reserve(10, { actor: KEYS[1] }))?.message).toContain('this tenant');
    expect(reserve(10_000, { tenant: 'org_b' })).toBeUndefined();
  });

  test('begins anew with its day and its month, and never for the total', async () => {
    await set('tenant', { dayUsd: 1, totalUsd: 2.5 });
    settle(reserve(1000), 1000);
    expect(refusal(() => reserve(10))?.message).toContain('2026-02-01T00:00:00.000Z');
    time.at += 3 * HOUR_MS;
    settle(reserve(1000), 1000);
    time.at += DAY_MS;
    expect(refusal(() => reserve(600))?.message).toContain('$2.50');
    await set('tenant', { monthUsd: 1.2 });
    expect(refusal(() => reserve(300))?.message).toContain('for this month');
    time.at = Date.UTC(2026, 2, 1);
    expect(refusal(() => reserve(300))).toBeUndefined();
  });

  test('is not given again by a clock that steps back', async () => {
    await set('tenant', { dayUsd: 1 });
    time.at += 3 * HOUR_MS;
    settle(reserve(1000), 1000);
    time.at -= 3 * HOUR_MS;
    expect(refusal(() => reserve(10))).toBeDefined();
  });

  test('that is soft refuses nothing and counts', async () => {
    await set('tenant', { dayUsd: 1, hard: false });
    settle(reserve(5000), 5000);
    expect(refusal(() => reserve(5000))).toBeUndefined();
    expect(dayOf('tenant')).toBe(5_000_000);
  });

  test('counts what was spent before it was set, also by what is under way', async () => {
    settle(undefined, 700);
    const setting = set('tenant', { dayUsd: 1 });
    settle(undefined, 200);
    await setting;
    settle(undefined, 50);
    expect(dayOf('tenant')).toBe(950_000);
  });

  test('lets models without a known price pass until it is spent, or refuses them when it says so', async () => {
    await set('tenant', { dayUsd: 1 });
    expect(refusal(() => reserve(10_000, { model: 'mine/m' }))).toBeUndefined();
    settle(undefined, 1000);
    expect(refusal(() => reserve(1, { model: 'mine/m' }))?.code).toBe('budget_spent');
    await set('tenant', { dayUsd: 100, refuseUnpriced: true });
    expect(refusal(() => reserve(1, { model: 'mine/m' }))?.message).toContain('mine/m');
  });

  test('holds for the dearest of the models that may answer', async () => {
    await set('tenant', { dayUsd: 1 });
    const dear = { model: 'priced/m', max_tokens: 600 } as never;
    budgets.reserve(callerOf(KEYS[0]), 'mine/m', dear, ['priced/m', 'mine/other']);
    expect(budgets.find('org_a', 'tenant')?.reserved).toBe(600_000);
    await set('tenant', { dayUsd: 100, refuseUnpriced: true });
    expect(
      refusal(() => budgets.reserve(callerOf(KEYS[0]), 'priced/m', dear, ['mine/m']))?.message,
    ).toContain('mine/m');
  });

  test('lets go of what is held for a request that is under way for hours', async () => {
    await set('tenant', { totalUsd: 1 });
    const lost = reserve(900);
    expect(refusal(() => reserve(900))).toBeDefined();
    time.at += 7 * HOUR_MS;
    reserve(1);
    expect(refusal(() => reserve(900))).toBeUndefined();
    lost?.settle(0);
    expect(budgets.find('org_a', 'tenant')?.reserved).toBe(901_000);
  });

  test('of nothing lets nothing pass', async () => {
    await set('tenant', { totalUsd: 0 });
    expect(refusal(() => reserve(1))?.code).toBe('budget_spent');
  });

  test('outlives a start: what is spent is known again from the sums', async () => {
    await set('tenant', { dayUsd: 1 });
    await set(KEYS[0], { totalUsd: 9 });
    settle(reserve(400), 400);
    settle(undefined, 100, KEYS[1]);
    await ledger.stop();
    begin();
    expect(dayOf('tenant')).toBe(500_000);
    expect(budgets.find('org_a', KEYS[0])?.standings(time.at)[0]).toMatchObject({
      window: 'total',
      spent: 400_000,
    });
  });

  test('is removed, once', async () => {
    await set('tenant', { dayUsd: 1 });
    service.delete(OWNER, 'tenant');
    expect(reserve(100_000)).toBeUndefined();
    expect(refusal(() => service.delete(OWNER, 'tenant'))?.code).toBe('not_found');
  });

  test.each([
    ['someone', { dayUsd: 1 }, 'subject'],
    ['key_', { dayUsd: 1 }, 'subject'],
    ['tenant', {}, 'dayUsd'],
  ])('of %s with %j is refused by the field %s, and changes nothing', async (subject, change, field) => {
    const error = await set(subject, change).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'invalid_argument', violations: [{ field }] });
    expect(service.list('org_a')).toEqual([]);
  });
});

test('any crowd of requests never spends more than the limit, and nothing is lost', async () => {
  const step = fc.record({
    most: fc.integer({ min: 1, max: 400 }),
    share: fc.integer({ min: 0, max: 100 }),
    key: fc.constantFrom(...KEYS),
    /** How many of those under way end before it begins. */
    ends: fc.nat(4),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 80 }),
      fc.integer({ min: 0, max: 5000 }),
      async (steps, limit) => {
        const tenant = `org_${Math.random()}`;
        await service.set({ ...OWNER, tenant }, 'tenant', { totalUsd: limit / 1000 });
        const account = budgets.find(tenant, 'tenant');
        const under: Array<() => void> = [];
        let spent = 0;
        const end = () => under.splice(Math.floor(under.length / 2), 1)[0]?.();
        for (const { most, share, key, ends } of steps) {
          for (let i = 0; i < ends; i++) end();
          let reservation: Reservation | undefined;
          if (refusal(() => (reservation = reserve(most, { actor: key, tenant })))) continue;
          under.push(() => {
            const cost = Math.floor((most * share) / 100);
            spent += cost;
            settle(reservation, cost, key, tenant);
            settle2(reservation);
          });
          expect(spent * 1000 + (account?.reserved ?? 0)).toBeLessThanOrEqual(limit * 1000);
        }
        while (under.length > 0) end();
        expect(account?.reserved).toBe(0);
        expect(spent).toBeLessThanOrEqual(limit);
        expect(account?.standings(time.at)[0]?.spent).toBe(spent * 1000);
        await ledger.settled();
        const sums = new TotalsStore(app.db).spent(tenant, undefined, 0, 0);
        expect(sums.totalMicros).toBe(spent * 1000);
      },
    ),
    { numRuns: 25 },
  );
});

/** A second settling does nothing. */
function settle2(reservation: Reservation | undefined): void {
  reservation?.settle(1_000_000);
}
