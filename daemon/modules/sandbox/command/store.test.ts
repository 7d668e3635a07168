import { beforeEach, describe, expect, test } from 'bun:test';
import { migrations } from '../../../../migrations/index.ts';
import { Bus } from '../../../bus/bus.ts';
import { type Database, openDatabase } from '../../../db/open.ts';
import { silentLog } from '../../../log/log.ts';
import { SandboxEvents } from '../history/events.ts';
import type { ExecutionRow } from '../tables.ts';
import { ExecutionStore } from './store.ts';

let db: Database;
let store: ExecutionStore;
beforeEach(() => {
  db = openDatabase(':memory:', migrations);
  store = new ExecutionStore(db);
  for (const id of ['sbx_1', 'sbx_2']) {
    db.raw.run(
      `INSERT INTO sandboxes (id, tenant, session_id, name, backend, state, config, labels, created_at, updated_at)
       VALUES ('${id}', 't', 'ses', '', 'namespace', 'running', '{}', '{}', 0, 0)`,
    );
  }
});

const row = (
  id: string,
  sandboxId: string,
  createdAt: number,
  state: ExecutionRow['state'] = 'finished',
): ExecutionRow => ({
  id,
  tenant: 't',
  sandboxId,
  kind: 'command',
  language: 'sh',
  command: 'true',
  ref: null,
  state,
  exitCode: 0,
  signal: null,
  timedOut: false,
  error: null,
  stdout: '',
  stderr: '',
  logDropped: 0,
  deadlineAt: null,
  durationMs: 10,
  createdAt,
  finishedAt: createdAt,
});

describe('pruning', () => {
  test('keeps the latest of each sandbox, what is young, and what runs', () => {
    for (let i = 1; i <= 5; i++) store.insert(row(`cmd_a${i}`, 'sbx_1', 100 + i));
    store.insert(row('cmd_old', 'sbx_2', 1));
    store.insert(row('cmd_runs', 'sbx_2', 1, 'running'));
    const gone = store
      .prune(50, 3)
      .map(({ id }) => id)
      .sort();
    expect(gone).toEqual(['cmd_a1', 'cmd_a2', 'cmd_old']);
    expect(store.list('t', 'sbx_1', 10, 0).rows.map(({ id }) => id)).toEqual(['cmd_a5', 'cmd_a4', 'cmd_a3']);
    expect(store.list('t', 'sbx_2', 10, 0).rows.map(({ id }) => id)).toEqual(['cmd_runs']);
  });

  test('keeps the latest events of each sandbox', () => {
    const events = new SandboxEvents(db, { now: () => 100 }, new Bus(silentLog));
    for (let i = 0; i < 5; i++) events.record('t', 'sbx_1', { type: `e${i}`, message: '' });
    events.prune(50, 2);
    expect(events.list('t', 'sbx_1', undefined, 10, 0).rows.map(({ type }) => type)).toEqual(['e4', 'e3']);
    events.prune(101, 2);
    expect(events.list('t', 'sbx_1', undefined, 10, 0).total).toBe(0);
  });
});

test('how an execution ended is written once', () => {
  store.insert(row('cmd_1', 'sbx_1', 1, 'running'));
  store.finish('cmd_1', { state: 'finished', exitCode: 3 });
  store.finish('cmd_1', { state: 'lost', exitCode: 9 });
  expect(store.find('t', 'sbx_1', 'cmd_1')).toMatchObject({ state: 'finished', exitCode: 3 });
});

test('another tenant finds nothing', () => {
  store.insert(row('cmd_1', 'sbx_1', 1));
  expect(store.find('u', 'sbx_1', 'cmd_1')).toBeUndefined();
  expect(store.list('u', 'sbx_1', 10, 0)).toEqual({ rows: [], total: 0 });
  expect(store.totals('u')).toEqual({ total: 0, meanMs: 0 });
  expect(store.totals('t')).toEqual({ total: 1, meanMs: 10 });
});
