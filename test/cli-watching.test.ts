import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, startDaemon, svcCommand, type TestDaemon } from './support/daemon.ts';
import { driverCases } from './support/drivers.ts';
import { type OtlpReceiver, startOtlpReceiver } from './support/otlp-receiver.ts';
import { clientOf, newSandbox, until } from './support/scene.ts';

setDefaultTimeout(60_000);

describe('watching sandboxes from the command line', () => {
  const [{ env } = { env: {} }] = driverCases;
  const home = mkdtempSync(join(tmpdir(), 'svc-test-cli-watching-'));
  const more = { ...env, SVC_SANDBOX_SAMPLE_INTERVAL: '1s', SVC_OUTBOUND_ALLOW: '127.0.0.1' };
  let daemon: TestDaemon;
  let receiver: OtlpReceiver;
  let id: string;
  beforeAll(async () => {
    receiver = await startOtlpReceiver();
    daemon = await startDaemon({ env: more });
    id = await newSandbox(clientOf(daemon), { name: 'box' });
  });
  afterAll(async () => {
    await svc(['sandbox', 'terminate', 'box', 'gone']);
    await daemon.stop();
    await receiver.stop();
    rmSync(home, { recursive: true, force: true });
  });

  const start = (argv: readonly string[], extra: Readonly<Record<string, string>> = {}) =>
    Bun.spawn([...svcCommand(), ...argv], {
      env: {
        PATH: process.env.PATH,
        HOME: home,
        SVC_API_URL: daemon.url,
        SVC_API_KEY: daemon.apiKey,
        ...extra,
      },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    });
  const svc = async (argv: readonly string[], extra?: Readonly<Record<string, string>>) => {
    const child = start(argv, extra);
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    return { code: await child.exited, stdout, stderr };
  };
  /** What a command that goes on has printed so far. */
  const follow = (argv: readonly string[]) => {
    const child = start(argv);
    let text = '';
    const reading = (async () => {
      for await (const piece of child.stdout.pipeThrough(new TextDecoderStream())) text += piece;
    })();
    return { child, reading, lines: () => text.split('\n').filter((line) => line !== '') };
  };

  test('stats of one and of all, for people and for programs', async () => {
    expect((await svc(['sandbox', 'stats', 'box'])).stdout).toMatch(/^cpu\t[\d.]+ %\nmemory\t/);
    const all = JSON.parse((await svc(['sandbox', 'stats', '--all', '--json'])).stdout);
    expect(Number(all[id].memoryLimit)).toBeGreaterThan(0);
    expect((await svc(['sandbox', 'stats', '--all'])).stdout).toStartWith(`${id}\tbox\t`);
    expect((await svc(['sandbox', 'stats'])).code).toBe(2);
    expect((await svc(['sandbox', 'stats', 'nobody'])).code).toBe(5);
    expect((await svc(['sandbox', 'top'])).code).toBe(2);
  });

  test('a live view goes on until the sandbox stops', async () => {
    const client = clientOf(daemon);
    await newSandbox(client, { name: 'gone' });
    const { child, reading, lines } = follow(['sandbox', 'stats', 'gone', '--watch', '--json']);
    await until(() => lines().length >= 2);
    await svc(['sandbox', 'stop', 'gone']);
    await reading;
    expect(await child.exited).toBe(0);
    for (const line of lines()) expect(JSON.parse(line)).toHaveProperty('cpuPercent');
  });

  test('the history has a line a point', async () => {
    await until(async () => (await svc(['sandbox', 'history', 'box'])).stdout.split('\n').length > 2);
    const { stdout } = await svc(['sandbox', 'history', 'box', '--last', '1m']);
    for (const line of stdout.trim().split('\n')) expect(line.split('\t')).toHaveLength(8);
    expect(JSON.parse((await svc(['sandbox', 'history', 'box', '--json'])).stdout)).toMatchObject({
      resolutionSeconds: 1,
    });
  });

  test('events go on through a restart of the daemon, and none comes twice', async () => {
    const { child, reading, lines } = follow(['sandbox', 'events', 'box', '-f', '--json']);
    await until(() => lines().length >= 2);
    const { dataDir, apiKey, url } = daemon;
    await daemon.kill9();
    daemon = await startDaemon({ env: more, dataDir, apiKey, port: Number(new URL(url).port) });
    await svc(['sandbox', 'exec', 'box', '--', 'true']);
    await until(() => lines().some((line) => line.includes('command.finished')), 15_000);
    child.kill();
    await reading;
    const ids = lines().map((line) => (JSON.parse(line) as { id: string }).id);
    expect(new Set(ids).size).toBe(ids.length);
    const types = lines().map((line) => (JSON.parse(line) as { eventType: string }).eventType);
    expect(types.slice(0, 2)).toEqual(['created', 'running']);
    expect(types).toContain('command.finished');
  });

  test('otlp: values of headers come from the environment, and the receiver is tried', async () => {
    expect((await svc(['otlp', 'test'])).code).toBe(6);
    const set = [
      'otlp',
      'set',
      '--endpoint',
      receiver.url,
      '--header',
      'api-key',
      '--label',
      'team=web',
      '--enable',
    ];
    const missing = await svc(set);
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('SVC_OTLP_HEADER_API_KEY') });
    const done = await svc(set, { SVC_OTLP_HEADER_API_KEY: 'a-long-secret-9876' });
    expect(done.stdout).toBe(
      `enabled\tyes\nendpoint\t${receiver.url}\nheader api-key\t****9876\nlabel team\tweb\n`,
    );
    expect(await svc(['otlp', 'test'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('answered 200'),
    });
    await receiver.behave({ status: 403 });
    expect(await svc(['otlp', 'test'])).toMatchObject({ code: 1, stdout: expect.stringContaining('403') });
    const off = await svc(['otlp', 'set', '--disable', '--clear-labels', '--json']);
    expect(JSON.parse(off.stdout)).toEqual({
      endpoint: receiver.url,
      headers: { 'api-key': '****9876' },
      extra_labels: {},
      enabled: false,
    });
  });

  test('a daemon that does not answer at all is told at once when it was never there', async () => {
    const { code } = await svc(['sandbox', 'stats', 'box'], {
      SVC_API_URL: `http://127.0.0.1:${freePort()}`,
    });
    expect(code).toBe(3);
  });
});
