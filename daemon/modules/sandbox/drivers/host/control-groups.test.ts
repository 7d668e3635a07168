import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Groups, limitsForRuntime, missingControllers, writeLimits } from './control-groups.ts';
import { outOfMemoryKills, readUsage } from './usage.ts';

const MIB = 1024 * 1024;
const BOX = '/svc-x/box';

describe('control groups', () => {
  let root = '';
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'svc-groups-'));
  });
  afterAll(() => rm(root, { recursive: true, force: true }));

  /** A tree of files as a kernel shows it. */
  async function tree(files: Readonly<Record<string, string>>): Promise<string> {
    const dir = await mkdtemp(join(root, 't-'));
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(dir, path)), { recursive: true });
      await writeFile(join(dir, path), text);
    }
    return dir;
  }

  async function unified(): Promise<Groups> {
    const dir = await tree({
      'svc-x/box/cpu.max': 'max 100000\n',
      'svc-x/box/cpu.stat': 'usage_usec 4711\nuser_usec 4000\nsystem_usec 711\n',
      'svc-x/box/memory.current': '5000000\n',
      'svc-x/box/memory.stat': 'anon 1\ninactive_file 1000000\nactive_file 7\n',
      'svc-x/box/memory.max': '268435456\n',
      'svc-x/box/memory.events': 'low 0\nhigh 0\nmax 3\noom 2\noom_kill 2\noom_group_kill 0\n',
      'svc-x/box/io.stat':
        '254:0 rbytes=100 wbytes=20 rios=1 wios=1\n254:16 rbytes=1 wbytes=2 rios=1 wios=1\n',
      'svc-x/box/pids.current': '7\n',
      'svc-x/box/pids.max': 'max\n',
    });
    const controllers = Object.fromEntries(['cpu', 'memory', 'pids', 'io'].map((name) => [name, dir]));
    return { layout: 'v2', controllers, tree: dir, hybrid: undefined, roots: [dir] };
  }

  async function legacy(limit: number): Promise<Groups> {
    const dir = await tree({
      'cpu/svc-x/box/cpu.cfs_quota_us': '-1\n',
      'cpuacct/svc-x/box/cpuacct.usage': '4711000\n',
      'memory/memory.memsw.limit_in_bytes': '0\n',
      'memory/svc-x/box/memory.usage_in_bytes': '5000000\n',
      'memory/svc-x/box/memory.stat': 'cache 3\ninactive_file 5\ntotal_inactive_file 1000000\n',
      'memory/svc-x/box/memory.limit_in_bytes': `${limit}\n`,
      'memory/svc-x/box/memory.memsw.limit_in_bytes': `${limit}\n`,
      'memory/svc-x/box/memory.oom_control': 'oom_kill_disable 0\nunder_oom 0\noom_kill 2\n',
      'blkio/svc-x/box/blkio.throttle.io_service_bytes_recursive':
        '254:0 Read 100\n254:0 Write 20\n254:0 Total 120\n254:16 Read 1\n254:16 Write 2\nTotal 123\n',
      'pids/svc-x/box/pids.current': '7\n',
      'pids/svc-x/box/pids.max': 'max\n',
    });
    const names = ['cpu', 'cpuacct', 'memory', 'blkio', 'pids'];
    const controllers = Object.fromEntries(names.map((name) => [name, join(dir, name)]));
    return { layout: 'v1', controllers, tree: dir, hybrid: undefined, roots: Object.values(controllers) };
  }

  const file = async (groups: Groups, controller: string, name: string) =>
    (await readFile(join(groups.controllers[controller] ?? '', BOX, name), 'utf8')).trim();

  test.each<[string, () => Promise<Groups>]>([
    ['v2', unified],
    ['v1', () => legacy(268_435_456)],
  ])('of %s say what a box uses', async (_, make) => {
    const groups = await make();
    expect(readUsage(groups, BOX, process.pid)).toMatchObject({
      cpuUsageUs: 4711,
      memoryBytes: 4_000_000,
      memoryLimitBytes: 268_435_456,
      blockReadBytes: 101,
      blockWriteBytes: 22,
      pids: 7,
    });
    expect(outOfMemoryKills(groups, BOX)).toBe(2);
    expect(outOfMemoryKills(groups, '/missing')).toBe(0);
  });

  test('of v2 are given limits', async () => {
    const groups = await unified();
    await writeLimits(groups, BOX, { cpu: 0.5, memoryMb: 64, pids: 9 });
    expect(await file(groups, 'cpu', 'cpu.max')).toBe('50000 100000');
    expect(await file(groups, 'memory', 'memory.max')).toBe(String(64 * MIB));
    expect(await file(groups, 'pids', 'pids.max')).toBe('9');
  });

  test.each([32, 512])('of v1 are given limits, with swap, down or up from %i MB', async (before) => {
    const groups = await legacy(before * MIB);
    await writeLimits(groups, BOX, { cpu: 2, memoryMb: 64, pids: 9 });
    expect(await file(groups, 'cpu', 'cpu.cfs_quota_us')).toBe('200000');
    expect(await file(groups, 'memory', 'memory.limit_in_bytes')).toBe(String(64 * MIB));
    expect(await file(groups, 'memory', 'memory.memsw.limit_in_bytes')).toBe(String(64 * MIB));
    expect(await file(groups, 'pids', 'pids.max')).toBe('9');
  });

  test('that a host does not have are neither set nor asked for', async () => {
    const groups = { ...(await unified()), controllers: {} };
    expect(missingControllers(groups)).toEqual(['cpu', 'memory', 'pids']);
    expect(limitsForRuntime(groups, { cpu: 1, memoryMb: 64, pids: 9 })).toEqual({});
    await writeLimits(groups, BOX, { cpu: 1, memoryMb: 64, pids: 9 });
    expect(readUsage(groups, BOX, process.pid)).toMatchObject({ memoryBytes: 0, pids: 0 });
  });

  test('are limited by the runtime from the start, without swap', async () => {
    expect(limitsForRuntime(await legacy(0), { cpu: 0.001, memoryMb: 64, pids: 9 })).toEqual({
      cpu: { quota: 1_000, period: 100_000 },
      memory: { limit: 64 * MIB, swap: 64 * MIB },
      pids: { limit: 9 },
    });
  });
});
