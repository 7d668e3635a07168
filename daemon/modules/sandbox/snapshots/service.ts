import { asAppError, fail, invalid } from '../../../../src/errors/app-error.ts';
import { newId } from '../../../../src/kit/id.ts';
import { KeyedLock } from '../../../../src/kit/keyed-lock.ts';
import type { Page } from '../../../../src/kit/page.ts';
import { DAY_MS } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import type { SandboxDriver, SnapshotInfo } from '../drivers/driver.ts';
import { snapshotOf, snapshotReference } from '../drivers/snapshot-reference.ts';
import type { CreateRequest, SandboxConfig } from '../lifecycle/config.ts';
import type { Ingredient } from '../lifecycle/ingredients.ts';
import type { LifecycleService } from '../lifecycle/service.ts';
import { allows, wrongState } from '../lifecycle/states.ts';
import type { Sandbox } from '../tables.ts';
import type { SnapshotStore } from './store.ts';
import type { SnapshotRow } from './tables.ts';

/** The kind of the jobs that make snapshots. */
export const MAKE_JOB = 'snapshot.make';

/** A snapshot that nobody uses for so long is put aside (spec, Limits: 2 weeks). */
const UNUSED_MS = 14 * DAY_MS;
/** Snapshots of one tenant. */
const MOST = 500;
const NAME = /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,62}$/;
const INTERRUPTED = 'svc was interrupted while the snapshot was being made';

/** What a snapshot is to be made of: exactly one of the two. */
export interface NewSnapshot {
  readonly name: string;
  readonly image?: string;
  /** Id or name of a sandbox. */
  readonly sandbox?: string;
}

/** Makes snapshots, and sandboxes' configurations of them. */
export class SnapshotService implements Ingredient {
  private readonly locks = new KeyedLock();

  constructor(
    private readonly app: App,
    private readonly driver: SandboxDriver,
    private readonly lifecycle: LifecycleService,
    private readonly store: SnapshotStore,
  ) {}

  /**
   * Notes a snapshot, which is made by a job that begins at once.
   * Errors: invalid_argument, sandbox_not_found, sandbox_wrong_state, already_exists.
   */
  create(tenant: string, wanted: NewSnapshot): SnapshotRow {
    const { name, image, sandbox } = wanted;
    if (!NAME.test(name) || /^snp_/.test(name))
      throw invalid({
        field: 'name',
        description:
          'must be 1 to 63 letters, digits, dots, dashes or underscores, beginning with a letter or digit, and not with snp_',
      });
    if (!image === !sandbox)
      throw invalid({ field: 'image', description: 'or from_sandbox_id is required, and not both' });
    const source = sandbox ? this.source(tenant, sandbox) : undefined;
    if (image && (snapshotOf(image) !== undefined || /[\s\0]/.test(image)))
      throw invalid({ field: 'image', description: 'is not an image reference' });
    const row = this.newRow(tenant, name, image ?? this.imageName(tenant, source), source);
    this.app.db.transaction(() => {
      if (this.store.find(tenant, name)) throw fail('already_exists', { what: 'snapshot', id: name });
      if (this.store.list(tenant, { limit: 1, offset: 0 }).total >= MOST)
        throw fail('resource_exhausted', {
          message: `There are ${MOST} snapshots already. Remove one first.`,
        });
      this.store.insert(row);
      this.app.jobs.add({ kind: MAKE_JOB, tenant, payload: { snapshotId: row.id }, maxAttempts: 1 });
    });
    return row;
  }

  /** Makes a snapshot that was noted; what goes wrong is written down in it. */
  async make(tenant: string, id: string): Promise<void> {
    await this.locks.run(id, async () => {
      const row = this.store.find(tenant, id);
      if (row?.state !== 'pending') return;
      try {
        const { sizeBytes, image } = await this.take(row);
        const imageName = row.sourceSandboxId === null ? row.imageName : image.reference;
        this.settle(row, { state: 'active', sizeBytes, imageName });
      } catch (error) {
        await this.driver.removeSnapshot(id).catch(() => {});
        const { message } = asAppError(error);
        this.app.log.warn('a snapshot could not be made', { snapshot: id, error });
        this.settle(row, { state: 'error', errorReason: message });
      }
    });
  }

  /** A snapshot by id or name. Errors: not_found, also for another tenant's. */
  get(tenant: string, idOrName: string): SnapshotRow {
    const row = this.store.find(tenant, idOrName);
    if (!row) throw fail('not_found', { what: 'snapshot', id: idOrName });
    return row;
  }

  list(tenant: string, page: Page): { rows: SnapshotRow[]; total: number } {
    return this.store.list(tenant, page);
  }

  /** Removes a snapshot. Sandboxes that were made of it go on. Errors: not_found. */
  async remove(tenant: string, idOrName: string): Promise<void> {
    const { id, backend } = this.get(tenant, idOrName);
    await this.locks.run(id, async () => {
      // The row first: what is left on the host without a row is cleared away at the next start.
      this.store.remove(tenant, id);
      if (backend === this.driver.name) await this.driver.removeSnapshot(id);
    });
  }

  /** Settles what was cut off. For the start of the daemon. */
  settleInterrupted(): void {
    for (const row of this.store.pending()) this.settle(row, { state: 'error', errorReason: INTERRUPTED });
  }

  /** Removes what is on the host and no row knows; `others` are not to be touched. */
  async removeUnknown(others: ReadonlySet<string>): Promise<void> {
    const there = await this.driver.listSnapshots();
    const known = this.store.idsOf(this.driver.name);
    for (const id of there) if (!known.has(id) && !others.has(id)) await this.driver.removeSnapshot(id);
  }

  /** Puts aside what nobody used for two weeks: it keeps its files, and is active again when it is used. */
  deactivateUnused(): void {
    const now = this.app.clock.now();
    this.store.deactivate(now - UNUSED_MS, now);
  }

  /** Errors: not_found, failed_precondition, invalid_argument. */
  resolve(tenant: string, request: CreateRequest, config: SandboxConfig): SandboxConfig {
    if (!request.snapshotId) return config;
    if (request.image)
      throw invalid({ field: 'image', description: 'must not be given together with snapshotId' });
    const { id } = this.usable(tenant, request.snapshotId);
    return { ...config, image: snapshotReference(id), snapshotId: id };
  }

  check(tenant: string, { snapshotId }: SandboxConfig): void {
    if (snapshotId !== undefined) this.usable(tenant, snapshotId);
  }

  used(tenant: string, { snapshotId }: SandboxConfig): void {
    if (snapshotId === undefined) return;
    const now = this.app.clock.now();
    this.store.change(tenant, snapshotId, ['active', 'inactive'], {
      state: 'active',
      lastUsedAt: now,
      updatedAt: now,
    });
  }

  private usable(tenant: string, idOrName: string): SnapshotRow {
    const row = this.get(tenant, idOrName);
    const because =
      row.state === 'error'
        ? `: ${row.errorReason ?? ''}`
        : row.state === 'pending'
          ? ': try again soon'
          : '';
    if (row.state === 'pending' || row.state === 'error')
      throw fail('failed_precondition', { message: `The snapshot ${row.name} is ${row.state}${because}` });
    if (row.backend !== this.driver.name)
      throw fail('failed_precondition', {
        message: `The snapshot ${row.name} was made by the ${row.backend} driver; this is ${this.driver.name}.`,
      });
    return row;
  }

  private source(tenant: string, idOrName: string): Sandbox {
    const row = this.lifecycle.get(tenant, idOrName);
    if (!allows('snapshot', row.state)) throw wrongState(row.id, row.state, 'snapshot');
    return row;
  }

  private imageName(tenant: string, source: Sandbox | undefined): string {
    const { image = '', snapshotId } = source?.config ?? {};
    return (snapshotId && this.store.find(tenant, snapshotId)?.imageName) || image;
  }

  private take(row: SnapshotRow): Promise<SnapshotInfo> {
    const { tenant, sourceSandboxId } = row;
    if (sourceSandboxId === null) return this.driver.snapshotImage(row.imageName, row.id);
    return this.lifecycle.exclusively(tenant, sourceSandboxId, async ({ id, state }) => {
      if (!allows('snapshot', state)) throw wrongState(id, state, 'snapshot');
      return this.driver.snapshot(id, row.id);
    });
  }

  /** When it was removed meanwhile, its files go too: the remover waits for its turn. */
  private settle(row: SnapshotRow, change: Partial<SnapshotRow>): void {
    this.store.change(row.tenant, row.id, ['pending'], { ...change, updatedAt: this.app.clock.now() });
  }

  private newRow(tenant: string, name: string, imageName: string, source: Sandbox | undefined): SnapshotRow {
    const now = this.app.clock.now();
    return {
      id: newId('snp', now),
      tenant,
      name,
      backend: this.driver.name,
      state: 'pending',
      imageName,
      sourceSandboxId: source?.id ?? null,
      sizeBytes: null,
      cpu: source?.config.cpu ?? null,
      memoryMb: source?.config.memoryMb ?? null,
      diskMb: source?.config.diskMb ?? null,
      errorReason: null,
      createdAt: now,
      updatedAt: now,
      lastUsedAt: null,
    };
  }
}
