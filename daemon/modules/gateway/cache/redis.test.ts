import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRedis, type TestRedis } from '../../../../test/support/redis-server.ts';
import { Config } from '../../../config/config.ts';
import { silentLog } from '../../../log/log.ts';
import { createOutbound } from '../../../outbound/outbound.ts';
import type { KeptAnswer } from './answer.ts';
import { RedisAnswers } from './redis.ts';
import { RedisConnection } from './redis-connection.ts';
import { keyOf } from './request-key.ts';

const dir = mkdtempSync(join(tmpdir(), 'svc-redis-'));
const PASSWORD = 'a password: with @ signs/';
const SETTING = `default:${PASSWORD}`;
const outbound = createOutbound(new Config({ flags: { 'data.dir': dir } }), silentLog);
const clock = { now: () => Date.now() };
let redis: TestRedis;

beforeAll(async () => {
  redis = await startRedis(PASSWORD);
}, 120_000);

afterAll(async () => {
  await redis?.stop();
  rmSync(dir, { recursive: true, force: true });
});

const answer = (body: string, ttl = 60_000): KeptAnswer => ({
  contentType: 'application/json',
  body,
  model: 'openai/gpt-test',
  usage: { input: 1, output: 2 },
  keptAt: Date.now(),
  expiresAt: Date.now() + ttl,
});

async function open(trust: 'operator' | 'tenant' = 'operator', password = SETTING) {
  const connection = new RedisConnection(
    { address: `127.0.0.1:${redis.port}`, db: 3, trust },
    () => password,
    outbound,
  );
  await connection.open();
  return { connection, store: new RedisAnswers(connection, clock) };
}

test('nodes share answers, each tenant its own', async () => {
  const one = await open();
  const two = await open();
  const kept = answer('shared');
  one.store.keep('a', keyOf('k'), kept);
  one.store.keep('b', keyOf('k'), answer('of b'));
  await Bun.sleep(20);
  expect(await two.store.find('a', keyOf('k'))).toEqual(kept);
  expect(await two.store.find('c', keyOf('k'))).toBeUndefined();
  expect(await two.store.find('a', { ...keyOf('k'), proof: 'of another' })).toBeUndefined();
  expect(await two.store.clear('a')).toBe(1);
  expect(await one.store.find('a', keyOf('k'))).toBeUndefined();
  expect((await one.store.find('b', keyOf('k')))?.body).toBe('of b');
  one.connection.close();
  two.connection.close();
});

test('answers end by themselves', async () => {
  const { store, connection } = await open();
  store.keep('a', keyOf('short'), answer('short', 100));
  await Bun.sleep(20);
  expect(await store.find('a', keyOf('short'))).toBeDefined();
  await Bun.sleep(150);
  expect(await store.find('a', keyOf('short'))).toBeUndefined();
  connection.close();
});

test('what others have put there is no answer', async () => {
  const { store, connection } = await open();
  await store.find('a', keyOf('k'));
  store.keep('a', keyOf('k'), answer('good'));
  await connection.run(async (client) => {
    const [, keys] = await client.scan('0', 'COUNT', '100');
    for (const key of keys as string[]) await client.set(key, '{"proof":1}');
  });
  expect(await store.find('a', keyOf('k'))).toBeUndefined();
  await store.clear('a');
  connection.close();
});

test.each([
  ['a wrong password', 'operator', 'wrong'],
  ['a private address of a tenant', 'tenant', SETTING],
] as const)('%s is a miss and no error', async (_, trust, password) => {
  const { store, connection } = await open(trust, password);
  store.keep('a', keyOf('k'), answer('x'));
  expect(await store.find('a', keyOf('k'))).toBeUndefined();
  await expect(store.clear('a')).rejects.toMatchObject({ code: 'cache_unreachable' });
  connection.close();
});

test('a server that goes away is a miss, and one that comes back is used again', async () => {
  const { store, connection } = await open();
  store.keep('a', keyOf('k'), answer('before'));
  await redis.stop();
  expect(await store.find('a', keyOf('k'))).toBeUndefined();
  await redis.start();
  const until = Date.now() + 20_000;
  let found: KeptAnswer | undefined;
  while (!found && Date.now() < until) {
    store.keep('a', keyOf('again'), answer('after'));
    await Bun.sleep(50);
    found = await store.find('a', keyOf('again'));
  }
  expect(found?.body).toBe('after');
  connection.close();
}, 30_000);
