import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sandboxLifecycle } from '../src/api/sandbox/lifecycle.ts';
import type { Client } from '../src/client/client.ts';
import { startDaemon, type TestDaemon } from './support/daemon.ts';
import { driverCases } from './support/drivers.ts';
import { clientOf, newSandbox, run } from './support/scene.ts';

/** How many operations race with the sandbox, and how many at once. */
const RACES = Number(process.env.SVC_TEST_RACES ?? 2_000);
const AT_ONCE = 16;
const HOME = '/workspace/r';

/** Swaps what stands at a name for a file, a directory and links that point at what must not be reached, as fast as it can. */
const SWAPPER = `
import os, sys, shutil, random
home, targets = sys.argv[1], sys.argv[2:]
os.makedirs(home, exist_ok=True)
os.chdir(home)
names = ['d', 'd/f', 'd/victim', 'd/secret', 'f', 'd/sub']
def clear(n):
    try:
        if os.path.isdir(n) and not os.path.islink(n): shutil.rmtree(n, ignore_errors=True)
        else: os.unlink(n)
    except OSError: pass
while True:
    n = random.choice(names)
    k = random.randrange(4)
    try:
        if k == 0: os.symlink(random.choice(targets), 'tmp%d' % os.getpid()); clear(n); os.rename('tmp%d' % os.getpid(), n)
        elif k == 1: clear(n); os.mkdir(n)
        elif k == 2: clear(n); open(n, 'w').write('inside')
        else: clear(n)
    except OSError: clear('tmp%d' % os.getpid())
`;

describe.each(driverCases)('races on the $name driver', ({ env }) => {
  let daemon: TestDaemon;
  let client: Client;
  let id: string;
  let outside: string;
  const secret = `secret-${crypto.randomUUID()}`;
  const hidden = `hidden-${crypto.randomUUID()}`;
  beforeAll(async () => {
    outside = mkdtempSync(join(tmpdir(), 'svc-outside-'));
    // Whoever got out could read and change all of it, as any user.
    chmodSync(outside, 0o777);
    for (const name of ['f', 'victim', 'secret', hidden]) {
      writeFileSync(join(outside, name), secret);
      chmodSync(join(outside, name), 0o666);
    }
    daemon = await startDaemon({ env: { ...env, SVC_LOG_LEVEL: 'error' } });
    client = clientOf(daemon);
    id = await newSandbox(client);
  }, 60_000);
  afterAll(async () => {
    await client?.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId: id }, body: {} });
    await daemon?.stop();
    rmSync(outside, { recursive: true, force: true });
  });

  const call = (method: string, path: string, query: Record<string, string> = {}, body?: unknown) =>
    daemon.fetch(`/v1/sandbox/${id}/${path}?${new URLSearchParams(query)}`, {
      method,
      body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
      headers: typeof body === 'object' ? { 'content-type': 'application/json' } : {},
    });
  const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T;
  const place = () => `${HOME}/${pick(['d', 'd/f', 'd/victim', 'd/secret', 'f', 'd/sub', 'd/sub/f'])}`;

  /** One operation on a place that is being swapped. */
  const operations: ReadonlyArray<() => Promise<Response>> = [
    () => call('GET', 'files/download', { path: place() }),
    () => call('GET', 'files/download', { path: place() }),
    () => call('GET', 'files/download', { path: `${HOME}/d`, format: 'tar' }),
    () => call('GET', 'files/info', { path: place() }),
    () => call('GET', 'directories', { path: `${HOME}/d`, depth: '2' }),
    () => call('GET', 'files/search', { path: HOME, pattern: '*' }),
    () => call('PUT', 'files/content', { path: place() }, 'changed'),
    () => call('PUT', 'files/content', { path: place() }, 'changed'),
    () => call('PUT', 'files/content', { path: place(), offset: '0' }, 'changed'),
    () => call('DELETE', 'files', {}, { paths: [place()] }),
    () => call('DELETE', 'directories', {}, { paths: [`${HOME}/${pick(['d', 'd/sub'])}`] }),
    () => call('POST', 'directories', {}, { [place()]: { mode: 777 } }),
    () =>
      call('POST', 'files/permissions', {}, { [place()]: { mode: 777, owner: pick(['root', '1000', '7']) } }),
    () => call('POST', 'files/mv', {}, [{ src: place(), dest: place() }]),
    () => call('POST', 'files/replace', {}, { [place()]: { old: 'secret', new: 'changed' } }),
    () =>
      call(
        'POST',
        'files/global-replace',
        {},
        { path: `${HOME}/d`, pattern: 'secret', replacement: 'changed' },
      ),
  ];

  test(`${RACES} operations on places that are swapped reach nothing outside`, async () => {
    const before = stampOf(outside);
    const python = (await run(client, id, 'command -v python3 || true')).stdout.trim();
    const targets = [
      outside,
      `/proc/1/root${outside}`,
      `/proc/self/root${outside}`,
      `../../../../../..${outside}`,
      join(outside, 'victim'),
      '/etc/shadow',
      '/',
      '/proc/1/root',
      '/proc/self/fd/0',
      '/proc/self/fd/1',
    ];
    const quoted = targets.map((one) => `'${one}'`).join(' ');
    const swap = python
      ? `python3 -c "$SWAPPER" ${HOME} ${quoted}`
      : `mkdir -p ${HOME}; cd ${HOME}; while :; do for t in ${quoted}; do ln -sfn "$t" d; rm -f d; mkdir -p d; echo inside > d/f; ln -sf "$t/f" d/victim; rm -rf d; done; done`;
    for (let i = 0; i < 2; i++)
      await run(client, id, `${swap} >/dev/null 2>&1`, { background: true, envs: { SWAPPER } });
    const answers = new Map<number, number>();
    const leaks: string[] = [];
    let left = RACES;
    const start = performance.now();
    const worker = async () => {
      while (left-- > 0) {
        const response = await pick(operations)().catch(() => undefined);
        const text = (await response?.text().catch(() => '')) ?? '';
        const status = response?.status ?? 0;
        answers.set(status, (answers.get(status) ?? 0) + 1);
        if (text.includes(secret) || text.includes(hidden)) leaks.push(text.slice(0, 300));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    const seconds = (performance.now() - start) / 1000;
    if (RACES > 2_000)
      console.log(`${(RACES / seconds).toFixed(0)} operations a second`, Object.fromEntries(answers));
    expect(leaks).toEqual([]);
    expect(stampOf(outside)).toEqual(before);
    // Both kinds came about: places that could be used, and such that could not.
    expect(answers.get(200)).toBeGreaterThan(0);
    expect(answers.get(404)).toBeGreaterThan(0);
    expect(answers.get(500) ?? 0).toBe(0);
    expect(answers.get(503) ?? 0).toBe(0);
    // A stream that has begun and cannot go on is cut off.
    expect(answers.get(0) ?? 0).toBeLessThan(RACES / 100);
  }, 3_600_000);
});

/** All that could be changed outside. */
function stampOf(dir: string): unknown {
  return readdirSync(dir)
    .sort()
    .map((name) => {
      const { mode, uid, gid, mtimeMs, ctimeMs, ino } = statSync(join(dir, name));
      return [name, readFileSync(join(dir, name), 'utf8'), mode, uid, gid, mtimeMs, ctimeMs, ino];
    });
}
