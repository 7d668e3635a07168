import { mkdirSync, readdirSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Limits } from '../../driver.ts';
import { errnoOf, exists, readText } from './files.ts';
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

/** Changes the limits of a group that is there, without the runtime. */
export function writeLimits(groups: Groups, path: string, { cpu, memoryMb, pids }: Limits): void {
  const { layout, controllers } = groups;
  const set = (controller: string, file: string, value: string | number) => {
    if (controllers[controller]) writeFileSync(join(controllers[controller], path, file), String(value));
  };
  const bytes = memoryMb * MIB;
  const quota = Math.max(1_000, Math.round(cpu * CPU_PERIOD_US));
  set('pids', 'pids.max', pids);
  if (layout === 'v2') {
    set('cpu', 'cpu.max', `${quota} ${CPU_PERIOD_US}`);
    set('memory', 'memory.max', bytes);
    return;
  }
  set('cpu', 'cpu.cfs_quota_us', quota);
  const files = ['memory.limit_in_bytes'];
  if (canLimitSwap(groups)) files.push('memory.memsw.limit_in_bytes');
  const now = Number(readText(join(controllers.memory ?? '/', path, 'memory.limit_in_bytes')));
  // Memory with swap may never be less than memory alone: the order depends on the direction.
  for (const file of bytes > now ? files.toReversed() : files) set('memory', file, bytes);
}

/** Makes a group in a tree and gives its folder. */
export function makeGroup({ tree }: Pick<Groups, 'tree'>, path: string): string {
  const dir = join(tree, path);
  mkdirSync(dir, { recursive: true });
  return dir;
}

/** The process ids in a group and below it. */
export function processesOf(dir: string): number[] {
  const own = (readText(join(dir, 'cgroup.procs')) ?? '').split('\n').filter(Boolean).map(Number);
  return [...own, ...subgroups(dir).flatMap((name) => processesOf(join(dir, name)))];
}

function subgroups(dir: string): string[] {
  try {
    return readdirSync(dir).filter((name) => statSync(join(dir, name)).isDirectory());
  } catch {
    return [];
  }
}

/** Stops and continues every process of a group of the cgroup2 tree. A group that is gone is fine. */
export function freeze(dir: string, frozen: boolean): void {
  writeIfThere(join(dir, 'cgroup.freeze'), frozen ? '1' : '0');
}

/**
 * Sends a signal to every process of a group but `spare`. Nothing escapes by forking: SIGKILL is one write to
 * cgroup.kill, and for the other signals the group stands still while they are sent.
 */
export async function signalGroup(dir: string, signal: NodeJS.Signals, spare?: number): Promise<void> {
  if (signal === 'SIGKILL' && writeIfThere(join(dir, 'cgroup.kill'), '1')) return;
  freeze(dir, true);
  try {
    await waitFor(() => /^frozen 1$/m.test(readText(join(dir, 'cgroup.events')) ?? 'frozen 1'), 500);
    for (const pid of processesOf(dir)) if (pid !== spare) sendSignal(pid, signal);
  } finally {
    freeze(dir, false);
  }
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (errnoOf(error) !== 'ESRCH') throw error;
  }
}

/** Whether a group of the cgroup2 tree has processes. */
export function isPopulated(dir: string): boolean {
  return /^populated 1$/m.test(readText(join(dir, 'cgroup.events')) ?? '');
}

/** Waits until a group of the cgroup2 tree has no process any more. False at the deadline. */
export function awaitEmpty(dir: string, deadlineMs: number): Promise<boolean> {
  return waitFor(() => !isPopulated(dir), deadlineMs);
}

async function waitFor(done: () => boolean, deadlineMs: number): Promise<boolean> {
  const end = Date.now() + deadlineMs;
  for (let pause = 1; !done(); pause = Math.min(pause * 2, 20)) {
    if (Date.now() > end) return false;
    await Bun.sleep(pause);
  }
  return true;
}

/** Removes a group and those below it, in every tree. True when none is left. */
export function removeGroup(groups: Groups, path: string): boolean {
  return groups.roots.map((root) => removeTree(join(root, path))).every(Boolean);
}

/** Removes one group of the cgroup2 tree and those below it; false when processes are still in it. */
export function removeTree(dir: string): boolean {
  for (const name of subgroups(dir)) removeTree(join(dir, name));
  try {
    rmdirSync(dir);
    return true;
  } catch (error) {
    return errnoOf(error) === 'ENOENT';
  }
}

function writeIfThere(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: 'r+' });
    return true;
  } catch {
    return false;
  }
}
