import { mkdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Limits } from '../driver.ts';
import { exists, readText } from './files.ts';
import { readMounts } from './mounts.ts';
import { run } from './run.ts';

/** Which files a controller has: those of cgroup v1, one tree a controller, or of v2, one tree. */
export type Layout = 'v1' | 'v2';

/** Where the control groups of this host are. */
export interface Groups {
  readonly layout: Layout;
  /** v1: mount point by controller. v2: the one mount point under every controller that is there. */
  readonly controllers: Readonly<Record<string, string>>;
  /** A mounted cgroup2 tree. It ends and freezes groups of processes, also where the controllers are v1. */
  readonly tree: string;
  /** The cgroup2 mount that stands among v1 trees, which crun refuses to start beside. */
  readonly hybrid: string | undefined;
  /** Every root below which a group of ours can be. */
  readonly roots: readonly string[];
}

const CONTROLLERS = ['cpu', 'cpuacct', 'memory', 'pids', 'blkio', 'io', 'freezer', 'devices', 'cpuset'];
const CPU_PERIOD_US = 100_000;
const MIB = 1024 * 1024;

/**
 * Finds the control groups. Where no cgroup2 tree is mounted, one is mounted at `ownTree`; it has no
 * controllers then, only processes. Errors: HostCommandError when that fails.
 */
export async function findGroups(ownTree: string): Promise<Groups> {
  const mounts = readMounts();
  const v1: Record<string, string> = {};
  for (const { type, options, target } of mounts) {
    if (type !== 'cgroup') continue;
    for (const option of options) if (CONTROLLERS.includes(option)) v1[option] = target;
  }
  const unified = mounts.findLast(({ type, target }) => type === 'cgroup2' && target !== ownTree)?.target;
  const legacy = mounts.filter(({ type }) => type === 'cgroup').map(({ target }) => target);
  if (legacy.length === 0 && unified) return unifiedGroups(unified);
  const tree = unified ?? (await mountTree(ownTree));
  return { layout: 'v1', controllers: v1, tree, hybrid: unified, roots: [...new Set([...legacy, tree])] };
}

function unifiedGroups(root: string): Groups {
  const present = (readText(join(root, 'cgroup.controllers')) ?? '').trim().split(' ');
  const controllers = Object.fromEntries(
    CONTROLLERS.filter((name) => present.includes(name)).map((name) => [name, root]),
  );
  return { layout: 'v2', controllers, tree: root, hybrid: undefined, roots: [root] };
}

async function mountTree(path: string): Promise<string> {
  mkdirSync(path, { recursive: true });
  if (!exists(join(path, 'cgroup.procs'))) await run(['mount', '-t', 'cgroup2', 'none', path]);
  return path;
}

/** Which of the controllers that limits need are missing. */
export function missingControllers(groups: Groups): string[] {
  return ['cpu', 'memory', 'pids'].filter((name) => !groups.controllers[name]);
}

/** Limits in the words of the OCI runtime specification; what the host cannot limit is left out. */
export function limitsForRuntime(groups: Groups, { cpu, memoryMb, pids }: Limits): Record<string, unknown> {
  const has = groups.controllers;
  const bytes = memoryMb * MIB;
  return {
    ...(has.cpu && {
      cpu: { quota: Math.max(1_000, Math.round(cpu * CPU_PERIOD_US)), period: CPU_PERIOD_US },
    }),
    ...(has.memory && { memory: canLimitSwap(groups) ? { limit: bytes, swap: bytes } : { limit: bytes } }),
    ...(has.pids && { pids: { limit: pids } }),
  };
}

function canLimitSwap({ layout, controllers }: Groups): boolean {
  return layout === 'v1'
    ? exists(join(controllers.memory ?? '/', 'memory.memsw.limit_in_bytes'))
    : exists('/proc/swaps');
}

/** Changes the limits of a group that is there, without the runtime. Lowering one may take the kernel a while. */
export async function writeLimits(groups: Groups, path: string, limits: Limits): Promise<void> {
  const bytes = limits.memoryMb * MIB;
  const quota = Math.max(1_000, Math.round(limits.cpu * CPU_PERIOD_US));
  const set = async (controller: string, file: string, value: string | number) => {
    const root = groups.controllers[controller];
    if (root) await writeFile(join(root, path, file), String(value));
  };
  await set('pids', 'pids.max', limits.pids);
  if (groups.layout === 'v2') {
    await set('cpu', 'cpu.max', `${quota} ${CPU_PERIOD_US}`);
    await set('memory', 'memory.max', bytes);
    return;
  }
  await set('cpu', 'cpu.cfs_quota_us', quota);
  const files = ['memory.limit_in_bytes'];
  if (canLimitSwap(groups)) files.push('memory.memsw.limit_in_bytes');
  const now = Number(readText(join(groups.controllers.memory ?? '/', path, 'memory.limit_in_bytes')));
  // Memory with swap may never be less than memory alone: the order depends on the direction.
  for (const file of bytes > now ? files.toReversed() : files) await set('memory', file, bytes);
}
