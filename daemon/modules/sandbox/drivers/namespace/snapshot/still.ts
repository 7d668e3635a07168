import { join } from 'node:path';
import { fail } from '../../../../../../src/errors/app-error.ts';
import { readText } from '../../host/files.ts';
import { freeze } from '../../host/group-tree.ts';
import { commandGroup, type Host } from '../box/host.ts';

/** How long the processes of a box may take to stand still: one may wait for a disk. */
const STILL_MS = 5_000;

/**
 * Does something while no command of a box runs, and lets them go on. Its first process, which is not one of them,
 * writes nothing. Errors: unavailable when they do not stand still in time.
 */
export async function whileStill<T>(host: Host, containerId: string, work: () => Promise<T>): Promise<T> {
  const group = groupOf(host, containerId);
  await freeze(group, true);
  try {
    const end = Date.now() + STILL_MS;
    for (let pause = 1; !isFrozen(group); pause = Math.min(pause * 2, 20)) {
      if (Date.now() > end)
        throw fail('unavailable', { message: 'A process of the sandbox does not stand still: try again.' });
      await Bun.sleep(pause);
    }
    return await work();
  } finally {
    await freeze(group, false);
  }
}

/** Lets the commands of a box go on that a daemon left standing still when it died. */
export function letGoOn(host: Host, containerId: string): Promise<void> {
  return freeze(groupOf(host, containerId), false);
}

function groupOf(host: Host, containerId: string): string {
  return join(host.groups.tree, commandGroup(host, containerId));
}

function isFrozen(group: string): boolean {
  return /^frozen 1$/m.test(readText(join(group, 'cgroup.events')) ?? 'frozen 1');
}
