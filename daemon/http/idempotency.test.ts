import { expect, test } from 'bun:test';
import { migrations } from '../../migrations/index.ts';
import { openDatabase } from '../db/open.ts';
import { Secrets } from '../secrets/secrets.ts';
import { Idempotency } from './idempotency.ts';

let now = 1_000;
const secrets = new Secrets(Buffer.alloc(32, 7));
const make = () => {
  const db = openDatabase(':memory:', migrations);
  return { db, idempotency: new Idempotency(db, { now: () => now }, secrets) };
};
const ada = { tenant: 't', actor: 'usr_ada' };

test('requests at once with one key do the work once and get one answer', async () => {
  const { idempotency } = make();
  let made = 0;
  const work = async () => {
    await Bun.sleep(5);
    return { id: ++made };
  };
  const answers = await Promise.all(
    [1, 2, 3].map(() => idempotency.once(ada, 'k', 'Create', { a: 1 }, work)),
  );
  expect(answers).toEqual([{ id: 1 }, { id: 1 }, { id: 1 }]);
});

test('a later request gets the stored answer, also from a new process, for a day', async () => {
  const { db, idempotency } = make();
  await idempotency.once(ada, 'k', 'Create', {}, async () => 'first');
  const restarted = new Idempotency(db, { now: () => now }, secrets);
  expect(await restarted.once(ada, 'k', 'Create', {}, async () => 'second')).toBe('first');
  now += 86_400_001;
  expect(await restarted.once(ada, 'k', 'Create', {}, async () => 'second')).toBe('second');
});

test('the same key with another request is refused', async () => {
  const { idempotency } = make();
  await idempotency.once(ada, 'k', 'Create', { a: 1 }, async () => 'x');
  expect(idempotency.once(ada, 'k', 'Create', { a: 2 }, async () => 'y')).rejects.toThrow('another request');
  expect(idempotency.once(ada, 'k', 'Other', { a: 1 }, async () => 'y')).rejects.toThrow('another request');
});

test('tenants have keys of their own', async () => {
  const { idempotency } = make();
  await idempotency.once(ada, 'k', 'Create', {}, async () => 'mine');
  expect(
    await idempotency.once({ tenant: 'u', actor: 'usr_ada' }, 'k', 'Create', {}, async () => 'theirs'),
  ).toBe('theirs');
});

test('so have the callers of one tenant: nobody gets the answer of another', async () => {
  const { idempotency } = make();
  await idempotency.once(ada, 'k', 'Create', {}, async () => 'mine');
  const eve = { tenant: 't', actor: 'usr_eve' };
  expect(await idempotency.once(eve, 'k', 'Create', {}, async () => 'theirs')).toBe('theirs');
});

test('an answer is not stored in plain', async () => {
  const { db, idempotency } = make();
  await idempotency.once(ada, 'k', 'Create', {}, async () => ({ key: 's_secret' }));
  expect(JSON.stringify(db.raw.query('SELECT * FROM idempotency').all())).not.toContain('s_secret');
  expect(await idempotency.once(ada, 'k', 'Create', {}, async () => 'another')).toEqual({ key: 's_secret' });
});

test('a request that failed can be tried again', async () => {
  const { idempotency } = make();
  const failing = idempotency.once(ada, 'k', 'Create', {}, async () => {
    throw new Error('down');
  });
  expect(failing).rejects.toThrow('down');
  await failing.catch(() => undefined);
  expect(await idempotency.once(ada, 'k', 'Create', {}, async () => 'up')).toBe('up');
});
