import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { boxSpec, countProcesses, run, type Scene, settle, sh } from '../conformance/scene.ts';
import type { SandboxDriver } from '../driver.ts';
import { readRecord, writeRecord } from './box/record.ts';
import { entryDir } from './command/enter.ts';
import { createNamespaceDriver } from './index.ts';
import { whyUnusable } from './probe.ts';
import type { DaemonReport } from './testing/daemon-process.ts';
import { tracesOf } from './testing/traces.ts';

const NOTHING = { processes: 0, mounts: 0, groups: 0, namespaces: 0, devices: 0, files: 0 };

describe.skipIf(whyUnusable('t') !== undefined)('after the daemon was killed', () => {
  let dataDir = '';
  let driver: SandboxDriver;
  let report: DaemonReport;
  const instance = `r${crypto.randomUUID().slice(0, 6)}`;
  const log = () => join(dataDir, 'command.log');
  const scene = (): Scene => ({
    driver,
    box: report.box,
    dataDir,
    options: { image: 'host' },
    restart: () => open(),
  });
  const open = () => createNamespaceDriver({ dataDir, instance, warm: 2, log: () => {} });

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'svc-recovery-'));
    const program = join(import.meta.dir, 'testing/daemon-process.ts');
    const argument = JSON.stringify({ dataDir, instance, log: log() });
    const daemon = Bun.spawn([process.execPath, program, argument], { stdout: 'pipe', stderr: 'inherit' });
    const { value } = await daemon.stdout.getReader().read();
    report = JSON.parse(new TextDecoder().decode(value)) as DaemonReport;
    daemon.kill('SIGKILL');
    await daemon.exited;
    driver = await open();
  }, 60_000);

  afterAll(async () => {
    for (const { id } of await driver.list()) await driver.remove(id);
    await driver.close();
    expect(
      await settle(async () => JSON.stringify(tracesOf(instance, dataDir)), JSON.stringify(NOTHING)),
    ).toBe(JSON.stringify(NOTHING));
    await rm(dataDir, { recursive: true, force: true });
  }, 60_000);

  test('running boxes run on, stopped ones are stopped, half-made ones are gone', async () => {
    const states = new Map((await driver.list()).map(({ id, state }) => [id, state]));
    expect(states.get(report.box)).toBe('running');
    expect(states.get(report.stopped)).toBe('stopped');
    // The one that was under way is there as a whole or not at all.
    for (const [id, state] of states)
      if (state === 'running') expect((await run(scene(), 'echo yes', {}, id)).stdout).toBe('yes\n');
    const names = await readdir(join(dataDir, 'boxes'));
    for (const name of names.filter((it) => !it.startsWith('.')))
      expect(readRecord(join(dataDir, 'boxes', name))?.phase).not.toBe('making');
  });

  test('boxes that waited in the pool are handed out', async () => {
    const before = (await readdir(join(dataDir, 'boxes'))).filter((name) => name.startsWith('warm_'));
    expect(before.length).toBeGreaterThan(0);
    const inits = before.map((name) => readRecord(join(dataDir, 'boxes', name))?.init?.pid);
    const spec = boxSpec('host', { network: 'allow' });
    await driver.create(spec);
    const pid = readRecord(join(dataDir, 'boxes', spec.id))?.init?.pid;
    await driver.remove(spec.id);
    expect(inits).toContain(pid);
  });

  test('a background command goes on, and its true code arrives', async () => {
    const found = await driver.attach(report.box, report.ref);
    expect(await readFile(log(), 'utf8')).toBe('begun\n');
    await run(scene(), 'touch /workspace/go');
    expect(await found?.exited).toEqual({ code: 23 });
    expect(await readFile(log(), 'utf8')).toBe('begun\ndone\n');
  });

  test('a command whose keeper was not written down yet is found, and not forestalled', async () => {
    const spec = sh('while [ ! -e /workspace/go2 ]; do sleep 0.05; done; exit 24');
    await driver.spawn(report.box, spec, log());
    const dir = entryDir(join(dataDir, 'boxes', report.box), spec.id);
    await settle(async () => existsSync(join(dir, 'begun')), true);
    await rm(join(dir, 'keeper.json'));
    expect(await driver.forestall(report.box, spec.id)).toBe(false);
    const found = await driver.attach(report.box, spec.id);
    await run(scene(), 'touch /workspace/go2');
    expect(await found?.exited).toEqual({ code: 24 });
  });

  test('a command that has not begun is forestalled: it never begins', async () => {
    const spec = sh('touch /workspace/forestalled');
    expect(await driver.forestall(report.box, spec.id)).toBe(true);
    const late = sh('touch /workspace/forestalled');
    const dir = entryDir(join(dataDir, 'boxes', report.box), late.id);
    const made = driver.spawn(report.box, late, log());
    await settle(async () => existsSync(dir), true);
    const isForestalled = await driver.forestall(report.box, late.id);
    await (await made).exited.catch(() => undefined);
    const { stdout } = await run(scene(), 'ls /workspace/forestalled 2>/dev/null || echo none');
    expect(stdout.trim() === 'none').toBe(isForestalled);
  });

  test('a command that belonged to the daemon is still in its box, and goes with it', async () => {
    const left = await countProcesses(scene(), 'sleep 86420');
    expect(left).toBeLessThanOrEqual(2);
    const spec = boxSpec('host');
    await driver.create(spec);
    await driver.stop(spec.id);
    await driver.start(spec.id, spec);
    expect(await countProcesses(scene(), 'sleep', spec.id)).toBe(0);
    await driver.remove(spec.id);
  });

  test('a box whose first process died is stopped, and starts again on its files', async () => {
    const spec = boxSpec('host');
    await driver.create(spec);
    await run(scene(), 'echo kept >/workspace/f', {}, spec.id);
    const spawned = await driver.spawn(spec.id, sh('touch /workspace/up; sleep 1000'), log());
    const isUp = async () => (await run(scene(), 'ls /workspace', {}, spec.id)).stdout.includes('up');
    expect(await settle(isUp, true)).toBe(true);
    process.kill(readRecord(join(dataDir, 'boxes', spec.id))?.init?.pid ?? 0, 'SIGKILL');
    const state = async () => (await driver.inspect(spec.id)).state;
    expect(await settle<string>(state, 'stopped')).toBe('stopped');
    expect(await spawned.exited).toMatchObject({ code: 137 });
    await driver.start(spec.id, spec);
    expect((await run(scene(), 'cat /workspace/f', {}, spec.id)).stdout).toBe('kept\n');
    await driver.remove(spec.id);
  });

  test('a record of before a reboot is not taken for a running box', async () => {
    const spec = boxSpec('host');
    await driver.create(spec);
    const dir = join(dataDir, 'boxes', spec.id);
    const record = readRecord(dir);
    if (!record?.init) throw new Error('no record');
    writeRecord(dir, { ...record, init: { ...record.init, bootId: 'another boot' } });
    expect((await driver.inspect(spec.id)).state).toBe('stopped');
    await driver.start(spec.id, spec);
    expect((await driver.inspect(spec.id)).state).toBe('running');
    await driver.remove(spec.id);
  });

  test('a command whose keeper died without a word is not said to have ended well', async () => {
    const spec = boxSpec('host');
    await driver.create(spec);
    const { ref } = await driver.spawn(spec.id, sh('sleep 1000'), log());
    const file = join(dataDir, 'boxes', spec.id, 'exec', ref, 'keeper.json');
    const kept = JSON.parse(await readFile(file, 'utf8')) as { keeper: { pid: number; startTime: string } };
    await writeFile(file, JSON.stringify({ ...kept, keeper: { ...kept.keeper, startTime: '1' } }));
    const found = await driver.attach(spec.id, ref);
    expect(found?.exited).rejects.toMatchObject({ code: 'unavailable' });
    await found?.exited.catch(() => {});
    await driver.remove(spec.id);
  });
});
