import { join } from 'node:path';
import { readMounts } from '../drivers/host/mounts.ts';

/** Where the things of one mount are. */
export interface Place {
  /** Below the data directory: all that outlives the process. */
  readonly dir: string;
  /** The process that serves it. */
  readonly mark: string;
  readonly log: string;
  /** What was written and is not in the store yet. */
  readonly cache: string;
  /** Where it is mounted on this host; nobody but the daemon's user may go there. */
  readonly point: string;
}

/** Where the things of all mounts are: one folder a sandbox, in it one a mount. */
export interface Roots {
  readonly data: string;
  readonly run: string;
  /** The control group of the programs, in the cgroup2 tree; undefined on a host without one. */
  readonly group: string | undefined;
}

/** The roots of an instance. */
export function rootsOf(dataDir: string, instance: string): Roots {
  const tree = readMounts().findLast(({ type }) => type === 'cgroup2')?.target;
  return {
    data: join(dataDir, 'object-stores'),
    run: `/run/svc-${instance}/stores`,
    group: tree && join(tree, `svc-${instance}-stores`),
  };
}

/** The place of the mount of a sandbox with this number. */
export function placeOf({ data, run }: Roots, sandboxId: string, index: number): Place {
  const dir = join(data, sandboxId, String(index));
  return {
    dir,
    mark: join(dir, 'process.json'),
    log: join(dir, 'log'),
    cache: join(dir, 'cache'),
    point: join(run, sandboxId, String(index)),
  };
}
