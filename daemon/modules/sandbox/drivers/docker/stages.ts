import { closeSync, mkdirSync, readdirSync, rmdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fail } from '../../../../../src/errors/app-error.ts';
import type { BoxMount } from '../driver.ts';
import { openMounted } from '../host/mounted-folder.ts';
import { isMounted } from '../host/mounts.ts';
import { run } from '../host/run.ts';
import { mountFolder } from '../host/syscalls.ts';
import { BOX_UID } from '../host/user-namespace.ts';

/**
 * Folders below volumes, each held by a mount of this host for as long as its box may run. The engine knows folders
 * by name only, and a box that has the volume could exchange a name in it for a link to anywhere on the host.
 * They stand outside the data directory, where nothing is ever deleted but empty folders.
 */
export class Stages {
  private readonly root: string;

  constructor(instance: string) {
    this.root = `/run/svc-${instance}/mounts`;
  }

  /** The mounts with the places where the engine finds them. Errors: invalid_argument, not_configured, those of node:fs. */
  open(id: string, mounts: readonly BoxMount[]): BoxMount[] {
    return mounts.map((mount, i) => {
      if (mount.subpath !== undefined)
        return { ...mount, subpath: undefined, source: this.hold(id, i, mount) };
      closeSync(openMounted(mount, BOX_UID));
      return mount;
    });
  }

  /** Lets go of the folders of a box. */
  async close(id: string): Promise<void> {
    const dir = join(this.root, id);
    for (const name of namesIn(dir)) {
      const path = join(dir, name);
      if (isMounted(path)) await run(['umount', path]).catch(() => run(['umount', '--lazy', path]));
      rmdirSync(path);
    }
    for (const empty of [dir, this.root, dirname(this.root)]) removeEmpty(empty);
  }

  /** The boxes for which something is held. */
  boxes(): string[] {
    return namesIn(this.root);
  }

  private hold(id: string, i: number, mount: BoxMount): string {
    if (process.platform !== 'linux' || process.getuid?.() !== 0)
      throw fail('not_configured', {
        message:
          'Folders below a volume (subpath) can only be mounted by root on the Linux host of the engine.',
      });
    const path = join(this.root, id, String(i));
    mkdirSync(path, { recursive: true, mode: 0o700 });
    if (isMounted(path)) return path;
    const fd = openMounted(mount, BOX_UID);
    try {
      mountFolder(fd, path, { readOnly: false, close: closeSync });
    } finally {
      closeSync(fd);
    }
    return path;
  }
}

/** Others may have something in it, or it may be gone: both are fine. */
function removeEmpty(dir: string): void {
  try {
    rmdirSync(dir);
  } catch {
    // It stays.
  }
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}
