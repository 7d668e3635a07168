import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sandboxHistory } from '../src/api/sandbox/history.ts';
import { sandboxLifecycle } from '../src/api/sandbox/lifecycle.ts';
import { sandboxMetrics } from '../src/api/sandbox/metrics.ts';
import { type Client, createClient } from '../src/client/client.ts';
import { startDaemon, type TestDaemon } from './support/daemon.ts';
import { driverCases } from './support/drivers.ts';
import { clientOf, newSandbox, run, until } from './support/scene.ts';
import { TwoTenants } from './support/tenants/two-tenants.ts';

setDefaultTimeout(60_000);

const SAMPLE = { SVC_SANDBOX_SAMPLE_INTERVAL: '1s' };

describe.each(driverCases)('watching sandboxes on the $name driver', ({ env }) => {
  let daemon: TestDaemon;
  let client: Client;
  let id: string;
  beforeAll(async () => {
    daemon = await startDaemon({ env: { ...env, ...SAMPLE } });
    client = clientOf(daemon);
    id = await newSandbox(client, { name: 'watched' });
  });
  afterAll(async () => {
    await removeAll(client);
    await daemon.stop();
  });

  const stats = (sandboxId: string) => client.call(sandboxMetrics.GetMetrics, { params: { sandboxId } });
  const history = async (sandboxId: string, query: { from?: string; to?: string } = {}) =>
    client.call(sandboxMetrics.GetMetricsHistory, { params: { sandboxId }, query });
  const state = async (sandboxId: string) =>
    (await client.call(sandboxLifecycle.GetSandboxInstance, { params: { sandboxId } })).instance
      ?.lifecycleState;

  test('a busy sandbox shows about one core, an idle one none, and its memory', async () => {
    // What its start has cost is in the first measurement.
    await stats(id);
    await Bun.sleep(1_000);
    const idle = (await stats(id)).stats;
    expect(idle?.cpuPercent).toBeLessThan(20);
    expect(Number(idle?.memoryLimit)).toBe(512 * 1024 * 1024);
    expect(Number(idle?.memoryUsage)).toBeGreaterThan(0);
    const spin = run(client, id, 'timeout 2 sh -c "while :; do :; done"; true');
    await Bun.sleep(500);
    await stats(id);
    await Bun.sleep(700);
    const busy = (await stats(id)).stats;
    await spin;
    // Others may want the cores too.
    expect(busy?.cpuPercent).toBeGreaterThan(idle?.cpuPercent ?? 100);
    expect(busy?.cpuPercent).toBeLessThan(130);
    expect(busy?.pids).toBeGreaterThan(1);
  });

  test('what uses memory and the disk is seen to', async () => {
    const before = (await stats(id)).stats;
    await run(
      client,
      id,
      'head -c 33554432 /dev/zero > /workspace/big; sync /workspace/big 2>/dev/null || sync',
    );
    const after = (await stats(id)).stats;
    expect(Number(after?.blockWrite)).toBeGreaterThanOrEqual(Number(before?.blockWrite));
    expect(Date.parse(after?.timestamp ?? '')).toBeGreaterThan(Date.parse(before?.timestamp ?? ''));
  });

  test('a batch answers those that run, by the name that was asked for, and leaves the others out', async () => {
    const other = await newSandbox(client);
    await client.call(sandboxLifecycle.StopSandbox, { params: { sandboxId: other }, body: {} });
    const query = { ids: `watched, ${id},${other},sbx_none` };
    const answer = await client.call(sandboxMetrics.GetMetricsBatch, { query });
    expect(Object.keys(answer.stats).sort()).toEqual([id, 'watched'].sort());
    expect(Number(answer.stats.watched?.memoryUsage)).toBeGreaterThan(0);
  });

  test.each([
    ['an empty list', ' , '],
    ['too many', Array.from({ length: 101 }, (_, i) => `sbx_${i}`).join(',')],
  ])('a batch refuses %s', async (_, ids) => {
    const refused = client.call(sandboxMetrics.GetMetricsBatch, { query: { ids } });
    await expect(refused).rejects.toMatchObject({ http: 400, violations: [{ field: 'ids' }] });
  });

  test('a watcher gets the first measurement at once, one every 2 seconds, and hears of the end', async () => {
    const sandboxId = await newSandbox(client);
    const begun = performance.now();
    const times: number[] = [];
    let end: { event: string; data: string } | undefined;
    for await (const message of client.stream(sandboxMetrics.WatchMetrics, { params: { sandboxId } })) {
      if (message.event === 'end') end = message;
      else times.push(performance.now() - begun);
      if (times.length === 2 && message.event !== 'end')
        void client.call(sandboxLifecycle.StopSandbox, { params: { sandboxId }, body: {} });
    }
    expect(times[0]).toBeLessThan(1_000);
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(1_500);
    expect(JSON.parse(end?.data ?? '{}')).toMatchObject({ sandboxId, state: 'sleeping' });
    expect(JSON.parse(end?.data ?? '{}').reason).toContain('manual');
    await expect(
      client.stream(sandboxMetrics.WatchMetrics, { params: { sandboxId } }).next(),
    ).rejects.toMatchObject({
      http: 409,
    });
  });

  test('many watchers are one measurement, and none when they have left', async () => {
    const watched = async () =>
      Number(
        /^svc_metrics_watched_sandboxes (\d+)/m.exec(await (await daemon.fetch('/metrics')).text())?.[1],
      );
    const controllers = Array.from({ length: 5 }, () => new AbortController());
    for (const { signal } of controllers)
      await client.stream(sandboxMetrics.WatchMetrics, { params: { sandboxId: id } }, { signal }).next();
    expect(await watched()).toBe(1);
    for (const controller of controllers) controller.abort();
    await until(async () => (await watched()) === 0);
  });

  test('watching is no use: a sandbox that nobody uses falls asleep before the eyes of its watcher', async () => {
    const sandboxId = await newSandbox(client, { idleRetentionSeconds: 3 });
    const messages = [];
    for await (const message of client.stream(sandboxMetrics.WatchMetrics, { params: { sandboxId } }))
      messages.push(message);
    expect(messages.at(-1)).toMatchObject({ event: 'end' });
    expect(messages.length).toBeLessThan(6);
  });

  test('the history has points while a sandbox runs, and a gap while it does not', async () => {
    const sandboxId = await newSandbox(client);
    const points = async () => (await history(sandboxId)).points;
    await until(async () => (await points()).length >= 2);
    await client.call(sandboxLifecycle.StopSandbox, { params: { sandboxId }, body: {} });
    const before = (await points()).length;
    await Bun.sleep(3_000);
    expect((await points()).length).toBeLessThanOrEqual(before + 1);
    await client.call(sandboxLifecycle.ReviveSandbox, { params: { sandboxId }, body: {} });
    await until(async () => (await points()).length >= before + 2);
    const times = (await points()).map(({ timestamp }) => Date.parse(timestamp ?? ''));
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(Math.max(...times.slice(1).map((at, i) => at - (times[i] ?? 0)))).toBeGreaterThan(2_500);
    const middle = new Date(times[1] ?? 0).toISOString();
    expect((await history(sandboxId, { from: middle })).points).toHaveLength((await points()).length - 1);
    expect((await history(sandboxId, { to: middle })).points).toHaveLength(2);
  });

  test.each([
    ['a time that is none', { from: 'yesterday' }, 'from'],
    ['an end before its beginning', { from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' }, 'from'],
  ])('the history refuses %s', async (_, query, field) => {
    await expect(history(id, query)).rejects.toMatchObject({ http: 400, violations: [{ field }] });
  });

  test('of a sandbox that is not there nothing is told', async () => {
    const params = { sandboxId: 'sbx_none' };
    await expect(stats('sbx_none')).rejects.toMatchObject({ http: 404 });
    await expect(history('sbx_none')).rejects.toMatchObject({ http: 404 });
    await expect(client.stream(sandboxMetrics.WatchMetrics, { params }).next()).rejects.toMatchObject({
      http: 404,
    });
    await expect(client.stream(sandboxHistory.WatchSandboxEvents, { params }).next()).rejects.toMatchObject({
      http: 404,
    });
  });

  describe('events', () => {
    interface Told {
      readonly id: string;
      readonly eventType: string;
      readonly sandboxId: string;
    }
    const follow = (sandboxId: string, after?: string, signal?: AbortSignal) =>
      client.stream(
        sandboxHistory.WatchSandboxEvents,
        { params: { sandboxId }, query: {} },
        { signal, lastEventId: after },
      );

    test('are told as they happen, until the sandbox is gone', async () => {
      const sandboxId = await newSandbox(client);
      const told: string[] = [];
      const reading = (async () => {
        for await (const { data } of follow(sandboxId)) told.push((JSON.parse(data) as Told).eventType);
      })();
      await Bun.sleep(200);
      await run(client, sandboxId, 'true');
      await client.call(sandboxLifecycle.StopSandbox, { params: { sandboxId }, body: {} });
      await client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId }, body: {} });
      await reading;
      expect(told).toEqual(['command.finished', 'stopping', 'stopped', 'terminating', 'terminated']);
    });

    test('go on after the id that was seen last: none is missing, none comes twice', async () => {
      const sandboxId = await newSandbox(client);
      const seen: string[] = [];
      const commands = (async () => {
        for (let i = 0; i < 20; i++) await run(client, sandboxId, 'true');
        await client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId }, body: {} });
      })();
      for (let isOver = false; !isOver; ) {
        const controller = new AbortController();
        isOver = true;
        for await (const { id, data } of follow(sandboxId, seen.at(-1) ?? '0', controller.signal)) {
          expect(id).toBe((JSON.parse(data) as Told).id);
          seen.push(id);
          isOver = false;
          if (seen.length % 3 === 0) break;
        }
        controller.abort();
      }
      await commands;
      const { events = [] } = await client.call(sandboxHistory.ListSandboxEvents, {
        params: { sandboxId },
        query: { limit: 500 },
      });
      expect(seen).toEqual(events.map(({ id }) => id ?? '').toReversed());
      expect(seen.length).toBeGreaterThan(22);
    });

    test('of one type only, and of all sandboxes at once', async () => {
      const controller = new AbortController();
      const told: Told[] = [];
      const reading = (async () => {
        const query = { eventType: 'running' };
        const stream = client.stream(sandboxHistory.WatchEvents, { query }, { signal: controller.signal });
        for await (const { data } of stream) told.push(JSON.parse(data));
      })().catch(() => undefined);
      await Bun.sleep(200);
      const [one, other] = [await newSandbox(client), await newSandbox(client)];
      await until(() => told.length === 2);
      controller.abort();
      await reading;
      expect(told.map(({ sandboxId }) => sandboxId)).toEqual([one, other]);
      expect(told.map(({ eventType }) => eventType)).toEqual(['running', 'running']);
    });

    test('have a stream that is open at once, however quiet it is', async () => {
      const controller = new AbortController();
      const begun = performance.now();
      const { signal } = controller;
      const response = await daemon.fetch(`/v1/sandbox/${id}/events/watch?eventType=none`, { signal });
      expect(performance.now() - begun).toBeLessThan(10_000);
      expect(response.headers.get('content-type')).toStartWith('text/event-stream');
      controller.abort();
    });

    test('refuse an id that is none', async () => {
      await expect(follow(id, 'x').next()).rejects.toMatchObject({
        http: 400,
        violations: [{ field: 'Last-Event-ID' }],
      });
    });
  });

  test('a box that is ended behind svc is noticed: its row and an event say so', async () => {
    const sandboxId = await newSandbox(client);
    const { instance } = await client.call(sandboxLifecycle.GetSandboxInstance, { params: { sandboxId } });
    await killBox(daemon, env, sandboxId, instance?.containerId ?? '');
    await until(async () => (await state(sandboxId)) === 'sleeping', 15_000);
    const { events = [] } = await client.call(sandboxHistory.ListSandboxEvents, {
      params: { sandboxId },
      query: {},
    });
    expect(events[0]).toMatchObject({ eventType: 'stopped' });
    await client.call(sandboxLifecycle.ReviveSandbox, { params: { sandboxId }, body: {} });
    expect((await run(client, sandboxId, 'echo back')).stdout).toBe('back\n');
  });

  test('the history survives a restart, and losing its file costs no more than the history', async () => {
    await until(async () => (await history(id)).points.length > 2);
    const { dataDir, apiKey } = daemon;
    const [first] = (await history(id)).points;
    await daemon.kill9();
    daemon = await startDaemon({ env: { ...env, ...SAMPLE }, dataDir, apiKey });
    client = clientOf(daemon);
    expect((await history(id)).points[0]?.timestamp).toBe(first?.timestamp);
    await until(async () => (await history(id)).points.some(({ cpuPercent = 0 }) => cpuPercent < 50));
    await daemon.stop({ keep: true });
    for (const suffix of ['', '-wal', '-shm'])
      rmSync(join(dataDir, `telemetry.db${suffix}`), { force: true });
    await Bun.write(join(dataDir, 'telemetry.db'), 'this is no database');
    daemon = await startDaemon({ env: { ...env, ...SAMPLE }, dataDir, apiKey });
    client = clientOf(daemon);
    expect(await state(id)).toBe('running');
    await until(async () => (await history(id)).points.length > 0);
    expect((await history(id)).points[0]?.timestamp).not.toBe(first?.timestamp);
  });
});

test('another tenant sees nothing of it', async () => {
  const [{ env } = { env: {} }] = driverCases;
  const tenants = await TwoTenants.start({ env });
  const client = clientOf(tenants.daemon);
  const { session } = await tenants.stranger('sam');
  const { key } = await tenants.key(tenants.fromPage(session), { name: 'sam' });
  const stranger = createClient({ url: tenants.daemon.url, apiKey: key });
  const id = await newSandbox(client);
  try {
    const params = { sandboxId: id };
    const calls = [
      () => stranger.call(sandboxMetrics.GetMetrics, { params }),
      () => stranger.call(sandboxMetrics.GetMetricsHistory, { params }),
      () => stranger.stream(sandboxMetrics.WatchMetrics, { params }).next(),
      () => stranger.stream(sandboxHistory.WatchSandboxEvents, { params }).next(),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ http: 404 });
    expect(await stranger.call(sandboxMetrics.GetMetricsBatch, { query: { ids: id } })).toEqual({
      stats: {},
    });
    const controller = new AbortController();
    const { signal } = controller;
    const stream = stranger.stream(sandboxHistory.WatchEvents, { query: { after: '0' } }, { signal });
    const first = stream.next();
    await run(client, id, 'true');
    expect(await Promise.race([first.then(() => 'told'), Bun.sleep(500).then(() => 'silence')])).toBe(
      'silence',
    );
    controller.abort();
    await first.catch(() => undefined);
  } finally {
    await removeAll(client);
    await tenants.stop();
  }
});

/** Ends PID 1 of a sandbox from outside, as a careless operator would. */
async function killBox(
  { dataDir }: TestDaemon,
  env: Readonly<Record<string, string>>,
  sandboxId: string,
  containerId: string,
): Promise<void> {
  if (env.SVC_DOCKER_SOCKET) {
    const url = `http://docker/containers/${containerId}/kill`;
    await fetch(url, { method: 'POST', unix: env.SVC_DOCKER_SOCKET });
    return;
  }
  const boxes = join(dataDir, 'boxes');
  const records = readdirSync(boxes)
    .filter((name) => !name.startsWith('.'))
    .map((name) => JSON.parse(readFileSync(join(boxes, name, 'box.json'), 'utf8')));
  process.kill(records.find(({ id }) => id === sandboxId).init.pid, 'SIGKILL');
}

async function removeAll(client: Client): Promise<void> {
  const { instances = [] } = await client.call(sandboxLifecycle.ListSandboxInstances, {
    query: { limit: 500 },
  });
  for (const { id = '' } of instances)
    await client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId: id }, body: {} });
}
