import { mkdir, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { asAppError, fail, invalid } from '../../../../src/errors/app-error.ts';
import { newId } from '../../../../src/kit/id.ts';
import type { Page } from '../../../../src/kit/page.ts';
import type { App } from '../../../app.ts';
import type { BoxMount } from '../drivers/driver.ts';
import { errnoOf } from '../drivers/host/files.ts';
import { run } from '../drivers/host/run.ts';
import type { CreateRequest, SandboxConfig } from '../lifecycle/config.ts';
import type { Ingredient } from '../lifecycle/ingredients.ts';
import { checkedMounts, type VolumeMount } from './mounts.ts';
import type { VolumeStore } from './store.ts';
import type { VolumeRow } from './tables.ts';

/** The kind of the jobs that delete volumes. */
export const DELETE_JOB = 'volume.delete';

/** Volumes of one tenant. */
const MOST = 500;
const NAME = /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,62}$/;
const DELETE_TIMEOUT_MS = 60 * 60_000;
const TRASH = '.trash-';

/** Volumes as folders of the data directory, which nobody but the daemon's user may enter. */
export class VolumeService implements Ingredient {
  private readonly root: string;

  constructor(
    private readonly app: App,
    private readonly store: VolumeStore,
  ) {
    this.root = join(app.config.dataDir, 'volumes');
  }

  /** Errors: invalid_argument, already_exists, disk_full. */
  async create(tenant: string, name: string): Promise<VolumeRow> {
    if (!NAME.test(name) || /^vol_/.test(name))
      throw invalid({
        field: 'name',
        description:
          'must be 1 to 63 letters, digits, dots, dashes or underscores, beginning with a letter or digit, and not with vol_',
      });
    const now = this.app.clock.now();
    const row: VolumeRow = {
      id: newId('vol', now),
      tenant,
      name,
      state: 'creating',
      errorReason: null,
      createdAt: now,
      updatedAt: now,
      lastUsedAt: null,
    };
    this.app.db.transaction(() => {
      if (this.store.find(tenant, name)) throw fail('already_exists', { what: 'volume', id: name });
      if (this.store.list(tenant, { limit: 1, offset: 0 }).total >= MOST)
        throw fail('resource_exhausted', { message: `There are ${MOST} volumes already. Remove one first.` });
      this.store.insert(row);
    });
    return this.makeFolder(row);
  }

  /** A volume by id or name. Errors: not_found, also for another tenant's. */
  get(tenant: string, idOrName: string): VolumeRow {
    const row = this.store.find(tenant, idOrName);
    if (!row) throw fail('not_found', { what: 'volume', id: idOrName });
    return row;
  }

  list(tenant: string, page: Page): { rows: VolumeRow[]; total: number } {
    return this.store.list(tenant, page);
  }

  /** Takes a volume away at once, and its files in the background. Errors: not_found, failed_precondition (in use). */
  remove(tenant: string, idOrName: string): void {
    this.app.db.transaction(() => {
      const { id, name, state } = this.get(tenant, idOrName);
      if (state === 'deleting') return;
      const user = this.store.userOf(tenant, id);
      if (user)
        throw fail('failed_precondition', {
          message: `The sandbox ${user} has the volume ${name}. Remove it first.`,
        });
      this.store.change(tenant, id, { state: 'deleting', updatedAt: this.app.clock.now() });
      this.app.jobs.add({ kind: DELETE_JOB, tenant, payload: { volumeId: id } });
    });
  }

  /** Deletes the files of a volume that was taken away, and its row. */
  async finishRemoval(tenant: string, id: string): Promise<void> {
    if (this.store.find(tenant, id)?.state !== 'deleting') return;
    await this.deleteFolder(id);
    this.store.remove(tenant, id);
  }

  /** Finishes what was cut off. For the start of the daemon. */
  async reconcile(): Promise<void> {
    const rows = this.store.all();
    for (const row of rows) if (row.state === 'creating') await this.makeFolder(row).catch(() => {});
    const known = new Set(rows.map(({ id }) => id));
    for (const name of await readdir(this.root).catch((): string[] => [])) {
      if (name.startsWith(TRASH)) await this.deleteFolder(name);
      // Nothing that svc does leaves one: it is somebody's data beside another database.
      else if (!known.has(name))
        this.app.log.warn('a folder of a volume has no row; it stays', { volume: name });
    }
  }

  /** Errors: invalid_argument naming the field, not_found, failed_precondition. */
  resolve(tenant: string, { mounts }: CreateRequest, config: SandboxConfig): SandboxConfig {
    if (!mounts || mounts.length === 0) return config;
    const found = checkedMounts(mounts).map((mount): VolumeMount => {
      const { id } = this.ready(tenant, mount.bucket);
      return { type: 'svc-volume', volumeId: id, ...mount };
    });
    return found.length > 0 ? { ...config, mounts: [...(config.mounts ?? []), ...found] } : config;
  }

  check(tenant: string, config: SandboxConfig): void {
    for (const { volumeId } of volumesOf(config)) this.ready(tenant, volumeId);
  }

  used(tenant: string, config: SandboxConfig): void {
    const lastUsedAt = this.app.clock.now();
    for (const { volumeId } of volumesOf(config)) this.store.change(tenant, volumeId, { lastUsedAt });
  }

  mounts(config: SandboxConfig): readonly BoxMount[] {
    return volumesOf(config).map(({ volumeId, mountPath, subpath }) => ({
      source: this.folderOf(volumeId),
      target: mountPath,
      ...(subpath ? { subpath } : {}),
    }));
  }

  private ready(tenant: string, idOrName: string): VolumeRow {
    const row = this.get(tenant, idOrName);
    if (row.state === 'ready') return row;
    throw fail('failed_precondition', { message: `The volume ${row.name} is ${row.state}.` });
  }

  private async makeFolder(row: VolumeRow): Promise<VolumeRow> {
    const settle = (change: Partial<VolumeRow>): VolumeRow => {
      const whole = { ...change, updatedAt: this.app.clock.now() };
      this.store.change(row.tenant, row.id, whole);
      return { ...row, ...whole };
    };
    try {
      await mkdir(this.root, { recursive: true, mode: 0o700 });
      await mkdir(this.folderOf(row.id), { mode: 0o755 }).catch((error) => {
        if (errnoOf(error) !== 'EEXIST') throw error;
      });
      return settle({ state: 'ready' });
    } catch (error) {
      const failure =
        errnoOf(error) === 'ENOSPC'
          ? fail('disk_full', { message: 'There is no space for the volume.' })
          : asAppError(error);
      settle({ state: 'error', errorReason: failure.message });
      throw failure;
    }
  }

  /** Out of the way first: what is half deleted is no volume of anybody. */
  private async deleteFolder(name: string): Promise<void> {
    const trash = name.startsWith(TRASH) ? name : `${TRASH}${name}`;
    await rename(join(this.root, name), join(this.root, trash)).catch((error) => {
      if (errnoOf(error) !== 'ENOENT') throw error;
    });
    await run(['rm', '-rf', '--one-file-system', '--', join(this.root, trash)], {
      timeoutMs: DELETE_TIMEOUT_MS,
    });
  }

  private folderOf(id: string): string {
    return join(this.root, id);
  }
}

function volumesOf({ mounts = [] }: SandboxConfig): VolumeMount[] {
  return mounts.filter((mount) => mount.type === 'svc-volume');
}
