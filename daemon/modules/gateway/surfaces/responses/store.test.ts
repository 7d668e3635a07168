import { expect, test } from 'bun:test';
import { migrations } from '../../../../../migrations/index.ts';
import { newId } from '../../../../../src/kit/id.ts';
import { openDatabase } from '../../../../db/open.ts';
import { silentLog } from '../../../../log/log.ts';
import { conversationOf } from './conversation.ts';
import { Keeping } from './keeping.ts';
import { newResponse } from './new-response.ts';
import { type Kept, ResponseStore } from './store.ts';
import type { Status } from './wire.ts';

function scene() {
  const db = openDatabase(':memory:', migrations);
  const store = new ResponseStore(db);
  let now = 1_700_000_000_000;
  const put = (
    tenant: string,
    previousId: string | null = null,
    status: Status = 'completed',
    text = 'x',
  ): string => {
    const id = newId('resp', ++now);
    store.putAll([keptOf(tenant, id, previousId, status, text, now)]);
    return id;
  };
  return { db, store, put, now: () => now };
}

function keptOf(
  tenant: string,
  id: string,
  previousId: string | null,
  status: Status,
  text: string,
  at: number,
): Kept {
  const response = {
    ...newResponse(id, at, { model: 'm' }, status),
    output: [{ id: `msg_${id}`, type: 'message', role: 'assistant' as const, content: `answer to ${text}` }],
  };
  const run = status === 'queued' ? ({ requestId: 'r' } as Kept['row']['run']) : null;
  const row = {
    tenant,
    id,
    status,
    background: false,
    previousId,
    provider: 'p',
    run,
    events: null,
    createdAt: at,
    usedAt: at,
  };
  return { row, response, input: [{ id: `in_${id}`, type: 'message', role: 'user', content: text }] };
}

test('a conversation is put together from its chain, oldest first, and its responses stay in use', () => {
  const { store, put, db } = scene();
  const first = put('a', null, 'completed', 'one');
  const second = put('a', first, 'completed', 'two');
  const { items, own, chain, madeBy } = conversationOf(
    store,
    'a',
    { model: 'm', input: 'three', previous_response_id: second },
    5,
  );
  expect(items.map(({ content }) => content)).toEqual([
    'one',
    'answer to one',
    'two',
    'answer to two',
    'three',
  ]);
  expect(own).toMatchObject([
    { type: 'message', role: 'user', status: 'completed', content: [{ text: 'three' }] },
  ]);
  expect(chain).toEqual([first, second]);
  expect(madeBy.get(`msg_${first}`)).toBe('p');
  const third = newId('resp');
  store.putAll([{ ...keptOf('a', third, second, 'completed', 'three', 2_000_000_000_000), chain }]);
  store.prune(1_999_999_999_999, 100);
  expect(db.raw.query('SELECT count(*) AS n FROM responses').get()).toEqual({ n: 3 });
});

test('a chain that is broken, foreign or endless is refused by name', () => {
  const { store, put } = scene();
  const first = put('a');
  const second = put('a', first);
  const go = (tenant: string, id: string) => () =>
    conversationOf(store, tenant, { model: 'm', input: 'x', previous_response_id: id }, 0);
  expect(go('b', second)).toThrow(second);
  store.remove('a', first);
  expect(go('a', second)).toThrow(first);
  let last = put('a');
  for (let i = 0; i < 500; i++) last = put('a', last);
  expect(go('a', last)).toThrow('at most 500');
  const own = newId('resp');
  store.putAll([keptOf('a', own, own, 'completed', 'x', 1)]);
  expect(go('a', own)).toThrow('at most 500');
  expect(go('a', put('a', null, 'queued'))).toThrow('queued');
});

test('what nobody has used is forgotten with its items, in batches; what waits is not', () => {
  const { store, put, db, now } = scene();
  for (let i = 0; i < 5; i++) put('a');
  const waiting = put('b', null, 'queued');
  const count = (table: string) =>
    (db.raw.query(`SELECT count(*) AS n FROM ${table}`).get() as { n: number }).n;
  expect(store.prune(now() + 1, 3)).toBe(3);
  expect(store.prune(now() + 1, 3)).toBe(2);
  expect(store.find('b', waiting)?.response.id).toBe(waiting);
  expect([count('responses'), count('response_items')]).toEqual([1, 2]);
});

test('responses that end together are written together, and one that cannot be does not hold the others up', async () => {
  const { store } = scene();
  const keeping = new Keeping(store, silentLog);
  const ids = [1, 2, 3].map((at) => newId('resp', at));
  const kept = ids.map((id) => keptOf('a', id, null, 'completed', 'x', 1));
  const impossible = { ...keptOf('a', newId('resp'), null, 'completed', 'x', 1) };
  const wrong = { ...impossible, row: { ...impossible.row, status: 'nonsense' as Status } };
  await Promise.all([...kept, wrong].map((one) => keeping.keep(one)));
  expect(ids.map((id) => store.find('a', id)?.response.id)).toEqual(ids);
  expect(store.find('a', wrong.row.id)).toBeUndefined();
});

test('the end of a response that was deleted meanwhile brings nothing back', () => {
  const { store, put } = scene();
  const id = put('a', null, 'queued');
  const { input: _, ...ended } = keptOf('a', id, null, 'completed', 'x', 9);
  store.remove('a', id);
  store.putAll([ended]);
  expect(store.find('a', id)).toBeUndefined();
});
