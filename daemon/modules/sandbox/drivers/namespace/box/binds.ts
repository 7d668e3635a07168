import { closeSync, mkdirSync, readdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BoxMount } from '../../driver.ts';
import { openMounted } from '../../host/mounted-folder.ts';
import { isMounted } from '../../host/mounts.ts';
import { run } from '../../host/run.ts';
import { mountFolder } from '../../host/syscalls.ts';
import { BOX_UID } from '../../host/user-namespace.ts';
import { checkMounts } from '../../mount-target.ts';
import type { Host } from './host.ts';
import type { BoxPaths } from './paths.ts';

const PLACES = 'binds';

/** A folder that is ready to be bound into a box that starts. */
export interface Bind {
  /** A mount of the folder in the host's table, in a place that only root may enter. */
  readonly stage: string;
  /** An empty folder that everybody may enter: the runtime works with the ids of the box. */
  readonly source: string;
  readonly target: string;
  readonly readOnly: boolean;
}

/**
 * Holds the folders of a box where they cannot be exchanged while it starts, and lets go of them: the mount
 * namespace of the box has them then. Errors: invalid_argument, those of node:fs, SyscallError.
 */
export async function withBinds<T>(
  host: Host,
  paths: BoxPaths,
  mounts: readonly BoxMount[],
  body: (binds: readonly Bind[]) => Promise<T>,
): Promise<T> {
  checkMounts(mounts);
  const binds: Bind[] = [];
  try {
    for (const [i, mount] of mounts.entries()) binds.push(stage(host, paths, mount, i));
    return await body(binds);
  } finally {
    await unstage(paths);
  }
}

/** Takes away the mounts that a daemon left in the host's table when it died while a box started. */
export async function unstage(paths: BoxPaths): Promise<void> {
  for (const name of namesIn(paths.binds)) {
    const path = join(paths.binds, name);
    if (isMounted(path)) await run(['umount', path]).catch(() => run(['umount', '--lazy', path]));
    rmdirSync(path);
  }
}

/** Removes the empty folders that binds are shown in, when no box is left. */
export function removeBindPlaces(host: Host): void {
  const dir = join(host.runDir, PLACES);
  for (const name of namesIn(dir)) rmdirSync(join(dir, name));
  if (namesIn(host.runDir).includes(PLACES)) rmdirSync(dir);
}

function stage(host: Host, paths: BoxPaths, mount: BoxMount, i: number): Bind {
  const { target, readOnly = false } = mount;
  const path = join(paths.binds, String(i));
  const source = join(host.runDir, PLACES, String(i));
  mkdirSync(path, { recursive: true, mode: 0o700 });
  mkdirSync(source, { recursive: true, mode: 0o755 });
  const fd = openMounted(mount, host.range.base + BOX_UID);
  try {
    mountFolder(fd, path, { readOnly, close: closeSync });
  } finally {
    closeSync(fd);
  }
  return { stage: path, source, target, readOnly };
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}
