import { readdirSync } from 'node:fs';
import { mkdir, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Groups } from './control-groups.ts';
import { errnoOf, readText } from './files.ts';

/** How long a group may take to stand still; one process that waits for a disk holds it up. */
const FREEZE_MS = 500;

/*
 * Everything that changes a group is done off the event loop: the kernel has one lock for all groups, and whoever
 * moves a process holds it for a grace period, 10 to 20 ms.
 */

/** Makes a group in a tree, and those above it. Gives its folder. */
export async function makeGroup(tree: string, path: string): Promise<string> {
  const dir = join(tree, path);
  await mkdir(dir, { recursive: true });
  return dir;
}

/** Makes a group in one that is there. Errors: ENOENT when that is gone. */
export async function makeSubgroup(dir: string): Promise<void> {
  await mkdir(dir);
}

/** The process ids in a group and below it. */
export function processesOf(dir: string): number[] {
  const own = (readText(join(dir, 'cgroup.procs')) ?? '').split('\n').filter(Boolean).map(Number);
  return [...own, ...subgroups(dir).flatMap((name) => processesOf(join(dir, name)))];
}

/** Stops and continues every process of a group of the cgroup2 tree. A group that is gone is fine. */
export async function freeze(dir: string, frozen: boolean): Promise<void> {
  await writeIfThere(join(dir, 'cgroup.freeze'), frozen ? '1' : '0');
}

/** Ends every process of a group of the cgroup2 tree in one stroke, before Linux 5.14 in several. */
export async function killGroup(dir: string): Promise<void> {
  if (await writeIfThere(join(dir, 'cgroup.kill'), '1')) return;
  while (isPopulated(dir)) await signalGroup(dir, 'SIGKILL', 0);
}

/**
 * Sends a signal to every process of a group but `spare`. The group stands still meanwhile: nothing escapes by
 * forking.
 */
export async function signalGroup(dir: string, signal: NodeJS.Signals, spare: number): Promise<void> {
  await freeze(dir, true);
  try {
    await waitFor(() => /^frozen 1$/m.test(readText(join(dir, 'cgroup.events')) ?? 'frozen 1'), FREEZE_MS);
    for (const pid of processesOf(dir)) if (pid !== spare) sendSignal(pid, signal);
  } finally {
    await freeze(dir, false);
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

/** Removes a group and those below it, in every tree. True when none is left. */
export async function removeGroup(groups: Groups, path: string): Promise<boolean> {
  const gone = await Promise.all(groups.roots.map((root) => removeTree(join(root, path))));
  return gone.every(Boolean);
}

/** Removes a group of one tree and those below it; false when processes are still in it. */
export async function removeTree(dir: string): Promise<boolean> {
  for (const name of subgroups(dir)) await removeTree(join(dir, name));
  try {
    await rmdir(dir);
    return true;
  } catch (error) {
    return errnoOf(error) === 'ENOENT';
  }
}

function subgroups(dir: string): string[] {
  try {
    const entries = readdirSync(dir, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch {
    return [];
  }
}

async function waitFor(done: () => boolean, deadlineMs: number): Promise<boolean> {
  const end = Date.now() + deadlineMs;
  for (let pause = 1; !done(); pause = Math.min(pause * 2, 20)) {
    if (Date.now() > end) return false;
    await Bun.sleep(pause);
  }
  return true;
}

async function writeIfThere(path: string, text: string): Promise<boolean> {
  try {
    await writeFile(path, text, { flag: 'r+' });
    return true;
  } catch {
    return false;
  }
}
