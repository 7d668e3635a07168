import { existsSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Where archived sandboxes are kept: one file each, that only the daemon's user may read. */
export class Archives {
  private readonly dir: string;

  constructor(dataDir: string) {
    this.dir = join(dataDir, 'archives');
  }

  /** The place of a sandbox's archive; its folder is made. */
  async place(id: string): Promise<string> {
    await mkdir(this.dir, { recursive: true, mode: 0o700 });
    return this.path(id);
  }

  path(id: string): string {
    return join(this.dir, `${id}.tar.zst`);
  }

  has(id: string): boolean {
    return existsSync(this.path(id));
  }

  /** Removes the archive of a sandbox; a missing one is fine. */
  async remove(id: string): Promise<void> {
    await rm(this.path(id), { force: true });
  }

  /** Removes the archives of sandboxes that are not in the list, and what was cut off while it was written. */
  async keepOnly(ids: ReadonlySet<string>): Promise<void> {
    const names = await readdir(this.dir).catch((): string[] => []);
    const kept = new Set([...ids].map((id) => `${id}.tar.zst`));
    for (const name of names)
      if (!kept.has(name)) await rm(join(this.dir, name), { force: true, recursive: true });
  }
}
