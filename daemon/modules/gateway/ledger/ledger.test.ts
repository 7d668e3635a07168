import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { migrations } from '../../../../migrations/index.ts';
import { DAY_MS } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import { openDatabase } from '../../../db/open.ts';
import { openTelemetry } from '../../../db/telemetry.ts';
import { openTestApp } from '../../../testing/app.ts';
import type { RuntimeConfigValue } from '../../settings/index.ts';
import type { RequestRecord } from '../pipeline/record.ts';
import { RequestLedger } from './ledger.ts';
import { LOG_SCHEMA, LogStore } from './log-store.ts';
import { RequestLog } from './request-log.ts';
import { noSums } from './sums.ts';
import { recordOf } from './testing.ts';
import { TotalsStore } from './totals-store.ts';
import { UsageReports } from './usage.ts';

const DAY = Date.UTC(2026, 0, 15);
const clock = { now: () => DAY + DAY_MS / 2 };
const settings = {
  of: (tenant: string) =>
    ({ features: { enableRequestLogging: tenant !== 'org_unlogged' } }) as RuntimeConfigValue,
};

let dir: string;
let app: App;
let totals: TotalsStore;
let ledger: RequestLedger;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-ledger-'));
  app = openTestApp(clock, { 'data.dir': dir });
  totals = new TotalsStore(app.db);
  ledger = opened();
});

afterEach(async () => {
  await ledger.stop();
  app.db.close();
  rmSync(dir, { recursive: true, force: true });
});

/** A ledger over the same files, as after a start. */
function opened(store = totals): RequestLedger {
  const made = new RequestLedger(app, store, settings);
  made.start();
  return made;
}

function logFile(): LogStore {
  return new LogStore(openTelemetry(join(dir, 'requests.db'), LOG_SCHEMA));
}

const sumOf = (tenant: string) =>
  totals
    .between(tenant, 0, Number.MAX_SAFE_INTEGER)
    .reduce(
      (sum, row) => ({ requests: sum.requests + row.requests, costMicros: sum.costMicros + row.costMicros }),
      { requests: 0, costMicros: 0 },
    );

async function logged(tenant: string): Promise<RequestRecord[]> {
  const records: RequestRecord[] = [];
  for await (const record of await new RequestLog(ledger).all(tenant, {})) records.push(record);
  return records;
}

const sumOfLog = async (tenant: string) => {
  const records = await logged(tenant);
  return {
    requests: records.length,
    costMicros: records.reduce((sum, { costMicros = 0 }) => sum + costMicros, 0),
  };
};

describe('a record', () => {
  test('is read as it was written, whole and in its absences', async () => {
    const full = recordOf({
      cache: 'miss',
      violations: ['pii'],
      error: 'upstream_failed',
      status: 502,
      ending: 'failed',
    });
    const bare = recordOf({
      firstByteMs: undefined,
      model: undefined,
      resolvedBy: undefined,
      attempts: [],
      usage: undefined,
      costMicros: undefined,
    });
    ledger.record(full);
    ledger.record(bare);
    const log = new RequestLog(ledger);
    for (const record of [full, bare])
      expect(await log.get('org_a', record.requestId)).toMatchObject({ ...record });
  });

  test('of another tenant does not exist', async () => {
    const record = recordOf();
    ledger.record(record);
    expect(new RequestLog(ledger).get('org_b', record.requestId)).rejects.toThrow('There is no request');
    expect(await logged('org_b')).toEqual([]);
  });

  test('is written and counted once, however often it comes', async () => {
    const record = recordOf();
    for (let i = 0; i < 3; i++) ledger.record(record);
    await ledger.settled();
    ledger.record(record);
    await ledger.settled();
    expect(sumOf('org_a')).toEqual({ requests: 1, costMicros: 425 });
    expect(await sumOfLog('org_a')).toEqual(sumOf('org_a'));
  });

  test('of a tenant that keeps no log is counted all the same', async () => {
    ledger.record(recordOf({ tenant: 'org_unlogged' }));
    await ledger.settled();
    expect(await logged('org_unlogged')).toEqual([]);
    expect(sumOf('org_unlogged').requests).toBe(1);
  });

  test('does not wait for anybody to ask', async () => {
    ledger.record(recordOf());
    await new Promise<void>((resolve) => ledger.onWritten(() => resolve()));
    expect(ledger.queued).toBe(0);
  });
});

describe('the sums', () => {
  test('are those of the log, for any requests of any tenants', async () => {
    const records = fc.record({
      tenant: fc.constantFrom('org_a', 'org_b'),
      actor: fc.constantFrom('key_1', 'key_2'),
      model: fc.constantFrom('openai/gpt-4o', 'anthropic/claude', undefined),
      ending: fc.constantFrom('completed', 'failed', 'stopped', 'refused'),
      costMicros: fc.option(fc.nat(1000), { nil: undefined }),
      startedAt: fc.integer({ min: DAY - 3 * DAY_MS, max: DAY + DAY_MS - 1 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(records as fc.Arbitrary<Partial<RequestRecord>>, { maxLength: 120 }),
        async (list) => {
          for (const one of list) ledger.record(recordOf(one));
          await ledger.settled();
          for (const tenant of ['org_a', 'org_b']) expect(await sumOfLog(tenant)).toEqual(sumOf(tenant));
        },
      ),
      { numRuns: 15 },
    );
  });

  test('are caught up with the log after an end without warning', async () => {
    for (let i = 0; i < 30; i++) ledger.record(recordOf());
    await ledger.settled();
    // What is in the log and not in the sums, as when the process ends between the two.
    const file = logFile();
    file.append(Array.from({ length: 700 }, () => recordOf({ tenant: 'org_b', costMicros: 3 })));
    file.close();
    expect(sumOf('org_b').requests).toBe(0);
    await ledger.stop();
    ledger = opened();
    expect(sumOf('org_b')).toEqual({ requests: 700, costMicros: 2100 });
    expect(sumOf('org_a').requests).toBe(30);
    await ledger.stop();
    ledger = opened();
    expect(sumOf('org_b').requests).toBe(700);
  });

  test('outlive the log, and begin a new one without counting twice', async () => {
    for (let i = 0; i < 5; i++) ledger.record(recordOf());
    await ledger.stop();
    for (const suffix of ['', '-wal', '-shm']) rmSync(join(dir, `requests.db${suffix}`), { force: true });
    ledger = opened();
    expect(sumOf('org_a').requests).toBe(5);
    ledger.record(recordOf());
    await ledger.stop();
    ledger = opened();
    expect(sumOf('org_a').requests).toBe(6);
    expect((await logged('org_a')).length).toBe(1);
  });

  test('go on right when the newest rows of the log were lost with the power', async () => {
    for (let i = 0; i < 5; i++) ledger.record(recordOf());
    await ledger.stop();
    const sqlite = openTelemetry(join(dir, 'requests.db'), LOG_SCHEMA);
    sqlite.run('DELETE FROM requests WHERE seq > 2');
    sqlite.run("UPDATE sqlite_sequence SET seq = 2 WHERE name = 'requests'");
    sqlite.close();
    ledger = opened();
    for (let i = 0; i < 3; i++) ledger.record(recordOf());
    await ledger.stop();
    ledger = opened();
    expect(sumOf('org_a').requests).toBe(8);
  });

  test('wait when the database cannot be written, and are not lost', async () => {
    const store = new TotalsStore(app.db);
    let isBroken = true;
    const flaky = Object.assign(Object.create(store) as TotalsStore, {
      add: (...args: Parameters<TotalsStore['add']>) => {
        if (isBroken) throw new Error('disk full');
        store.add(...args);
      },
    });
    await ledger.stop();
    ledger = opened(flaky);
    for (let i = 0; i < 10; i++) ledger.record(recordOf());
    await ledger.settled();
    expect(sumOf('org_a').requests).toBe(0);
    isBroken = false;
    await ledger.settled();
    expect(sumOf('org_a')).toEqual(await sumOfLog('org_a'));
  });

  test('take what does not fit into the log, and say how much that is', async () => {
    const file = openTelemetry(join(dir, 'requests.db'), LOG_SCHEMA);
    file.run('DROP TABLE requests');
    file.close();
    for (let i = 0; i < 10; i++) ledger.record(recordOf());
    await ledger.settled();
    expect(ledger.shed).toBe(10);
    expect(sumOf('org_a').requests).toBe(10);
  });

  test('are grouped, and a price that nobody knows is counted apart', async () => {
    ledger.record(recordOf());
    ledger.record(recordOf({ costMicros: undefined, model: 'mine/llama', startedAt: DAY - DAY_MS }));
    ledger.record(
      recordOf({ model: undefined, usage: undefined, costMicros: undefined, ending: 'refused', status: 429 }),
    );
    ledger.record(recordOf({ cache: 'hit', usage: undefined, costMicros: 0, durationMs: 1 }));
    const reports = new UsageReports(ledger, totals, clock);
    const byModel = await reports.report('org_a', {});
    expect(
      byModel.groups.map(({ group, sums }) => [
        group,
        sums.requests,
        sums.unpriced,
        sums.errors,
        sums.cacheHits,
      ]),
    ).toEqual([
      ['openai/gpt-4o', 2, 0, 0, 1],
      ['mine/llama', 1, 1, 0, 0],
      ['(none)', 1, 0, 1, 0],
    ]);
    const byDay = await reports.report('org_a', { groupBy: 'day' });
    expect(byDay.groups.map(({ group, sums }) => [group, sums.requests])).toEqual([
      ['2026-01-14', 1],
      ['2026-01-15', 3],
    ]);
    expect((await reports.report('org_a', { from: '2026-01-15' })).total.requests).toBe(3);
    expect((await reports.report('org_a', { model: 'mine/llama' })).total.requests).toBe(1);
    expect(reports.report('org_a', { from: 'yesterday' })).rejects.toThrow('from');
    expect(reports.report('org_a', { from: '2020-01-01' })).rejects.toThrow('400 days');
  });

  test('of made-up names of models are bounded', () => {
    const count = 2050;
    const sums = { ...noSums(), requests: 1 };
    totals.add(
      Array.from({ length: count }, (_, i) => ({
        group: { tenant: 'org_x', dayAt: DAY, actor: 'k', provider: 'p', model: `m${i}`, surface: 'chat' },
        sums,
      })),
    );
    const rows = totals.between('org_x', DAY, DAY);
    expect(rows.length).toBe(2001);
    expect(rows.find(({ model }) => model === '*')?.requests).toBe(50);
  });
});

describe('the log', () => {
  test('is read page by page, each request once, the newest first', async () => {
    for (let i = 0; i < 1300; i++)
      ledger.record(recordOf({ startedAt: DAY + (i % 7), model: i % 3 ? 'a/x' : 'b/y' }));
    ledger.record(recordOf({ tenant: 'org_b' }));
    const log = new RequestLog(ledger);
    const seen: RequestRecord[] = [];
    let pages = 0;
    for (let next: { startedAt: number; seq: number } | undefined; ; pages++) {
      const page = await log.list('org_a', { model: 'a/x', limit: 100 }, next);
      seen.push(...page.records);
      next = page.next;
      if (!next) break;
    }
    expect(new Set(seen.map(({ requestId }) => requestId)).size).toBe(866);
    expect(seen.length).toBe(866);
    expect(seen.every((record, i) => i === 0 || record.startedAt <= (seen[i - 1]?.startedAt ?? 0))).toBe(
      true,
    );
    expect(pages).toBeGreaterThanOrEqual(8);
  });

  test.each([
    [{ model: 'gpt-4o' }, 2],
    [{ model: 'openai/gpt-4o' }, 2],
    [{ model: 'openai/*' }, 2],
    [{ model: 'gpt*' }, 3],
    [{ key: 'key_2' }, 1],
    [{ status: '5xx' }, 1],
    [{ status: '200' }, 3],
    [{ ending: 'failed' as const }, 1],
    [{ surface: 'embeddings' }, 1],
    [{ minDurationMs: 1000 }, 1],
    [{ minCostUsd: 0.0005 }, 1],
    [{ since: '2026-01-15T12:00:00Z', until: '2026-01-15T13:00:00Z' }, 3],
    [{ until: '2026-01-01T00:00:00Z' }, 0],
  ])('%j finds %d', async (filter, count) => {
    ledger.record(recordOf());
    ledger.record(recordOf({ actor: 'key_2', costMicros: 900, startedAt: DAY }));
    ledger.record(
      recordOf({
        status: 502,
        ending: 'failed',
        model: undefined,
        requestedModel: 'gpt-5',
        durationMs: 2000,
      }),
    );
    ledger.record(recordOf({ surface: 'embeddings', model: 'cohere/embed', requestedModel: 'embed' }));
    const { records } = await new RequestLog(ledger).list('org_a', filter);
    expect(records.length).toBe(count);
  });

  test('is followed from where somebody was, and each request comes once', async () => {
    for (let i = 0; i < 900; i++) ledger.record(recordOf({ tenant: i % 2 ? 'org_a' : 'org_b' }));
    await ledger.settled();
    const leaving = new AbortController();
    const seen: string[] = [];
    const watching = (async () => {
      for await (const record of new RequestLog(ledger).watch('org_a', {}, 0, leaving.signal)) {
        seen.push(record.requestId);
        if (seen.length === 453) leaving.abort();
      }
    })();
    while (seen.length < 450) await Bun.sleep(1);
    for (let i = 0; i < 3; i++) ledger.record(recordOf());
    ledger.record(recordOf({ tenant: 'org_b' }));
    await watching;
    expect(new Set(seen).size).toBe(453);
  });

  test('forgets what is old, and nothing else', async () => {
    for (let i = 0; i < 450; i++) ledger.record(recordOf({ startedAt: DAY - 40 * DAY_MS }));
    for (let i = 0; i < 5; i++) ledger.record(recordOf());
    await ledger.settled();
    await ledger.forget(DAY - 30 * DAY_MS, 1000);
    expect((await logged('org_a')).length).toBe(5);
    await ledger.forget(0, 3);
    expect((await logged('org_a')).length).toBe(3);
    expect(sumOf('org_a').requests).toBe(455);
  });
});

test('the sums are in the database of the instance', async () => {
  const path = join(dir, 'svc.db');
  const db = openDatabase(path, migrations);
  new TotalsStore(db).add([
    {
      group: { tenant: 't', dayAt: DAY, actor: 'k', provider: 'p', model: 'm', surface: 'chat' },
      sums: noSums(),
    },
  ]);
  db.close();
  const again = openDatabase(path, migrations);
  expect(new TotalsStore(again).between('t', DAY, DAY).length).toBe(1);
  again.close();
});
