import { join } from 'node:path';

/** Where things of the driver are, below the data directory of the daemon. */
export interface Layout {
  readonly dataDir: string;
  /** One folder a box. */
  readonly boxes: string;
  readonly images: string;
  /** What boxes share: init program, resolver file, leases of addresses, a cgroup2 tree when the host has none. */
  readonly shared: string;
}

/** The places of a data directory. */
export function layoutOf(dataDir: string): Layout {
  return {
    dataDir,
    boxes: join(dataDir, 'boxes'),
    images: join(dataDir, 'images'),
    shared: join(dataDir, 'boxes', '.shared'),
  };
}

/** Where things of a box are, in its folder. */
export interface BoxPaths {
  readonly dir: string;
  readonly record: string;
  readonly bundle: string;
  /** The files that the box has changed; one folder a mounted part of the image. */
  readonly upper: string;
  readonly work: string;
  /** The runtime's own state: one runtime root a box. */
  readonly state: string;
  readonly exec: string;
  readonly pidFile: string;
  readonly log: string;
  readonly mountTable: string;
  /** Where the folders that it has from the host are held while it starts. */
  readonly binds: string;
}

/** The places of a box. */
export function boxPaths(dir: string): BoxPaths {
  return {
    dir,
    record: join(dir, 'box.json'),
    bundle: join(dir, 'bundle'),
    upper: join(dir, 'upper'),
    work: join(dir, 'work'),
    state: join(dir, 'state'),
    exec: join(dir, 'exec'),
    pidFile: join(dir, 'pid'),
    log: join(dir, 'runtime.log'),
    mountTable: join(dir, 'mounts'),
    binds: join(dir, 'binds'),
  };
}

/** Whether a name may be that of a folder of ours: one path segment of harmless letters. */
export function isSafeName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,79}$/.test(name);
}
