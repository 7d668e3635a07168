import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import fc from 'fast-check';
import { DAY_MS, MINUTE_MS } from '../../../../src/kit/time.ts';
import { GRACE_MS, MOST_WAITING, reasonToSkip } from './policy.ts';
import { pruneRuns } from './prune.ts';
import { CronScene } from './testing/scene.ts';

setDefaultTimeout(30_000);

const statuses = (scene: CronScene) => scene.runs().map(({ status }) => status);

describe('a run whose forerunner has not ended', () => {
  test('is skipped, and says why', async () => {
    const scene = new CronScene();
    scene.add({ overlap: 'skip' });
    await scene.pass(3 * MINUTE_MS);
    expect(statuses(scene)).toEqual(['running', 'skipped', 'skipped']);
    expect(scene.runs()[1]?.error).toBe('the run before it had not ended');
    await scene.finish();
    await scene.pass(MINUTE_MS);
    expect(statuses(scene)).toEqual(['succeeded', 'skipped', 'skipped', 'running']);
  });

  test('queues, so many of them', async () => {
    const scene = new CronScene();
    scene.add({ overlap: 'queue' });
    await scene.pass((MOST_WAITING + 3) * MINUTE_MS);
    expect(statuses(scene).filter((status) => status === 'queued')).toHaveLength(MOST_WAITING);
    expect(scene.open.size).toBe(1);
    await scene.finish();
    expect(scene.open.size).toBe(1);
    expect(scene.begun).toHaveLength(2);
  });

  test('runs beside it where that is allowed', async () => {
    const scene = new CronScene();
    scene.add({ overlap: 'allow' });
    await scene.pass(5 * MINUTE_MS);
    expect(scene.open.size).toBe(5);
  });
});

describe('times that passed while svc was not running', () => {
  test('are skipped, which leaves one row that says so', async () => {
    const scene = new CronScene();
    scene.add();
    await scene.outage(10 * MINUTE_MS);
    expect(scene.runs().map(({ status, error }) => [status, error])).toEqual([
      ['skipped', 'svc was not running at that time'],
    ]);
    await scene.pass(MINUTE_MS);
    expect(statuses(scene)).toEqual(['skipped', 'running']);
  });

  test('are made up for by one run where that is wanted', async () => {
    const scene = new CronScene();
    scene.add({ missedRuns: 'run_once' });
    await scene.outage(10 * MINUTE_MS);
    expect(statuses(scene)).toEqual(['running']);
  });

  test('are met when the outage was a restart', async () => {
    const scene = new CronScene();
    scene.add();
    await scene.outage(GRACE_MS);
    expect(statuses(scene)).toEqual(['running']);
  });

  test('do not come again when the clock is set back', async () => {
    const scene = new CronScene();
    const { id } = scene.add();
    await scene.pass(2 * MINUTE_MS);
    scene.now -= DAY_MS;
    scene.stores.crons.update('org_a', id, { nextRunAt: scene.runs()[0]?.scheduledAt ?? 0 });
    await scene.pass(DAY_MS - 2 * MINUTE_MS);
    const times = scene.runs().map(({ scheduledAt }) => scheduledAt);
    expect(new Set(times).size).toBe(times.length);
  });
});

describe('after a crash', () => {
  test('a run that had begun is marked and not begun again; one that waited is begun', async () => {
    const scene = new CronScene();
    const { id } = scene.add({ overlap: 'queue' });
    await scene.pass(2 * MINUTE_MS);
    await scene.outage(1);
    expect(statuses(scene)).toEqual(['interrupted', 'running']);
    expect(scene.begun).toEqual([...new Set(scene.begun)]);
    expect(scene.cron(id)).toMatchObject({
      runCount: 2,
      errorCount: 1,
      lastError: 'svc was restarted while it ran',
    });
  });
});

test('a cron that is removed takes what waits with it', async () => {
  const scene = new CronScene();
  const { id } = scene.add({ overlap: 'queue' });
  await scene.pass(3 * MINUTE_MS);
  scene.stores.crons.delete('org_a', id);
  scene.stores.runs.dropWaiting('org_a', 'cron', id);
  await scene.finish();
  expect(statuses(scene)).toEqual(['succeeded']);
});

test('runs are forgotten by age and by number, but not those of the last hour and not what is open', async () => {
  const scene = new CronScene();
  scene.add({ overlap: 'allow' });
  await scene.pass(90 * MINUTE_MS);
  for (let i = 0; i < 20; i++) await scene.finish();
  const hourAgo = scene.now - 60 * MINUTE_MS;
  await pruneRuns(scene.stores.runs, { now: () => scene.now }, 5);
  const left = scene.runs();
  expect(
    left.filter(({ createdAt }) => createdAt < hourAgo).every(({ status }) => status === 'running'),
  ).toBe(true);
  expect(left.filter(({ createdAt }) => createdAt >= hourAgo)).toHaveLength(60);
  await pruneRuns(scene.stores.runs, { now: () => scene.now + 31 * DAY_MS }, 5);
  expect(scene.runs().every(({ status }) => status === 'running' || status === 'queued')).toBe(true);
  expect(scene.runs().length).toBeGreaterThan(0);
}, 30_000);

test('what is skipped follows from the policy alone', () => {
  const due = fc.record({
    scheduledAt: fc.constant(0),
    now: fc.integer({ min: 0, max: 10 * GRACE_MS }),
    running: fc.integer({ min: 0, max: 3 }),
    waiting: fc.integer({ min: 0, max: MOST_WAITING + 2 }),
  });
  const policy = fc.record({
    missedRuns: fc.constantFrom('skip' as const, 'run_once' as const),
    overlap: fc.constantFrom('skip' as const, 'queue' as const, 'allow' as const),
  });
  fc.assert(
    fc.property(policy, due, (cron, at) => {
      const isMissed = at.now > GRACE_MS && cron.missedRuns === 'skip';
      const overlaps = cron.overlap === 'skip' && at.running + at.waiting > 0;
      const isFull = at.waiting >= MOST_WAITING;
      expect(reasonToSkip(cron, at) !== undefined).toBe(isMissed || overlaps || isFull);
    }),
  );
});

type Step =
  | { readonly do: 'pass' | 'outage'; readonly ms: number }
  | { readonly do: 'finish'; readonly isGood: boolean };

test('whatever happens, each time of day runs once at most, none is lost while svc runs, and the counts are right', async () => {
  const time = fc.integer({ min: 1, max: 5 * MINUTE_MS });
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 3, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: time }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('outage' as const), ms: time }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('finish' as const), isGood: fc.boolean() }) },
  );
  const policy = fc.record({
    missedRuns: fc.constantFrom('skip' as const, 'run_once' as const),
    overlap: fc.constantFrom('skip' as const, 'queue' as const, 'allow' as const),
  });
  await fc.assert(
    fc.asyncProperty(policy, fc.array(step, { maxLength: 30 }), async (policy, steps) => {
      const scene = new CronScene();
      const { id } = scene.add(policy);
      const met: number[] = [];
      for (const step of steps) {
        const from = scene.now;
        if (step.do === 'pass') await scene.pass(step.ms);
        if (step.do === 'outage') await scene.outage(step.ms);
        if (step.do === 'finish') await scene.finish(step.isGood);
        if (step.do === 'pass')
          for (let at = Math.floor(from / MINUTE_MS + 1) * MINUTE_MS; at <= scene.now; at += MINUTE_MS)
            met.push(at);
        if (policy.overlap !== 'allow') expect(scene.open.size).toBeLessThanOrEqual(1);
      }
      const runs = scene.runs();
      const times = runs.map(({ scheduledAt }) => scheduledAt ?? -1);
      expect(new Set(times).size).toBe(times.length);
      expect(times.every((at) => at % MINUTE_MS === 0)).toBe(true);
      expect(met.filter((at) => !times.includes(at))).toEqual([]);
      expect(new Set(scene.begun).size).toBe(scene.begun.length);
      const failed = runs.filter(({ status }) => status === 'failed' || status === 'interrupted');
      expect(scene.cron(id)).toMatchObject({ runCount: scene.begun.length, errorCount: failed.length });
      const begun = runs.filter(({ startedAt }) => startedAt !== null).map(({ id }) => id);
      expect(begun.sort()).toEqual([...scene.begun].sort());
    }),
    { numRuns: 40 },
  );
}, 60_000);
