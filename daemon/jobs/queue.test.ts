import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { migrations } from '../../migrations/index.ts';
import { type Database, openDatabase } from '../db/open.ts';
import { silentLog } from '../log/log.ts';
import { Jobs } from './queue.ts';

let now = 1_000_000;
const clock = { now: () => now };
let db: Database;
let jobs: Jobs;

beforeEach(() => {
  now = 1_000_000;
  db = openDatabase(':memory:', migrations);
  jobs = new Jobs(db, clock, silentLog);
});
afterEach(async () => {
  await jobs.stop();
  db.close();
});

const until = async (condition: () => boolean) => {
  for (let i = 0; i < 400 && !condition(); i++) await Bun.sleep(5);
  expect(condition()).toBe(true);
};
const states = () => Object.fromEntries(jobs.list('t', 100, 0).map((job) => [job.kind, job.state]));

describe('a single job', () => {
  test('is done with its payload and is seen as done', async () => {
    const seen: unknown[] = [];
    jobs.handle('greet', (payload) => void seen.push(payload));
    jobs.start();
    jobs.add({ kind: 'greet', payload: { to: 'you' } });
    await until(() => states().greet === 'done');
    expect(seen).toEqual([{ to: 'you' }]);
  });

  test('waits for its time', async () => {
    let done = 0;
    jobs.handle('later', () => void done++);
    jobs.start();
    jobs.add({ kind: 'later', runAt: now + 60_000 });
    await Bun.sleep(30);
    expect(done).toBe(0);
    now += 60_001;
    jobs.add({ kind: 'later' });
    await until(() => done === 2);
  });

  test('that fails is tried again with its error kept, and is failed after its last attempt', async () => {
    let attempts = 0;
    jobs.handle('hopeless', () => {
      attempts++;
      throw new Error('no luck');
    });
    jobs.start();
    jobs.add({ kind: 'hopeless', maxAttempts: 2 });
    await until(() => attempts === 1 && states().hopeless === 'waiting');
    expect(jobs.list('t', 10, 0)).toContainEqual(
      expect.objectContaining({ lastError: 'no luck', attempts: 1 }),
    );
    now += 10_000;
    jobs.add({ kind: 'hopeless', maxAttempts: 1 });
    await until(() => attempts === 3);
    await until(() => jobs.list('t', 10, 0).filter((job) => job.state === 'failed').length === 2);
  });

  test('that was queued inside a transaction that fails does not exist', () => {
    const work = () =>
      db.transaction(() => {
        jobs.add({ kind: 'ghost' });
        throw new Error('rolled back');
      });
    expect(work).toThrow('rolled back');
    expect(jobs.list('t', 10, 0)).toEqual([]);
  });
});

test('what runs is told when the queue stops, and is taken up at the next start: that attempt does not count', async () => {
  let begun = 0;
  jobs.handle('long', async (_, __, signal) => {
    begun++;
    if (begun > 1) return;
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('cut'))));
  });
  jobs.start();
  jobs.add({ kind: 'long', maxAttempts: 1 });
  await until(() => begun === 1);
  await jobs.stop();
  expect(jobs.list('t', 10, 0)).toContainEqual(
    expect.objectContaining({ kind: 'long', state: 'waiting', attempts: 0, leaseOwner: null }),
  );
  jobs.start();
  await until(() => states().long === 'done');
});

test('what a former process held is taken up again', async () => {
  jobs.add({ kind: 'cut' });
  db.raw.run("UPDATE jobs SET state = 'running', lease_owner = 'dead', lease_until = 9e12");
  let done = 0;
  jobs.handle('cut', () => void done++);
  jobs.start();
  await until(() => done === 1);
});

test('a repeating job runs again after its interval and exists once', async () => {
  let runs = 0;
  jobs.every('tick', 1_000, () => void runs++);
  jobs.every('tick', 1_000, () => void runs++);
  jobs.start();
  await until(() => runs === 1);
  now += 1_500;
  jobs.handle('nudge', () => undefined);
  jobs.add({ kind: 'nudge' });
  await until(() => runs === 2);
  expect(jobs.list('t', 100, 0).filter((job) => job.kind === 'tick')).toHaveLength(1);
});

test('a tenant sees its own jobs and those of the instance, not those of others', () => {
  jobs.add({ kind: 'mine', tenant: 't' });
  jobs.add({ kind: 'theirs', tenant: 'u' });
  jobs.add({ kind: 'ours' });
  expect(Object.keys(states()).sort()).toEqual(['mine', 'ours']);
});
