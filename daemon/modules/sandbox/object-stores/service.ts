import { readdirSync } from 'node:fs';
import { mkdir, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fail, invalid } from '../../../../src/errors/app-error.ts';
import { KeyedLock } from '../../../../src/kit/keyed-lock.ts';
import { SECOND_MS } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import { instanceName, SettingStore } from '../../../db/settings.ts';
import type { BoxMount, SandboxDriver } from '../drivers/driver.ts';
import { run } from '../drivers/host/run.ts';
import { BOX_UID, idRangeOf } from '../drivers/host/user-namespace.ts';
import type { SandboxEvents } from '../history/events.ts';
import type { CreateRequest, SandboxConfig } from '../lifecycle/config.ts';
import type { Ingredient } from '../lifecycle/ingredients.ts';
import type { SandboxStore } from '../lifecycle/store.ts';
import type { Sandbox } from '../tables.ts';
import { HeldMount, letGo, type MountSpec } from './held-mount.ts';
import { isStoreType, type StoreMount, storeMount, violations } from './mounts.ts';
import { placeOf, type Roots, rootsOf } from './places.ts';
import { remoteOf } from './remote.ts';
import { whyNot } from './tools.ts';

const LOOK_MS = 5 * SECOND_MS;
/** States in which a box may stand on its mounts. */
const IN_USE: readonly string[] = ['creating', 'running', 'stopping', 'reviving'];
const DELETE_MS = 300 * SECOND_MS;

/** What object stores need of the module. */
export interface StoreParts {
  readonly app: App;
  readonly driver: SandboxDriver;
  readonly events: SandboxEvents;
  readonly sandboxes: SandboxStore;
}

/** Object stores as folders of sandboxes: a process a mount, for as long as the sandbox runs. */
export class ObjectStores implements Ingredient {
  private readonly locks = new KeyedLock();
  private readonly held = new Map<string, HeldMount[]>();
  private readonly lost = new Set<HeldMount>();
  private timer: Timer | undefined;
  private known: Roots | undefined;

  constructor(private readonly parts: StoreParts) {}

  /** Errors: invalid_argument naming the field. What is wrong with mounts of every kind is told by others. */
  resolve(_: string, { mounts = [] }: CreateRequest, config: SandboxConfig): SandboxConfig {
    const mine = mounts.flatMap((mount, i) =>
      isStoreType(mount.type) ? [{ type: mount.type, mount, i }] : [],
    );
    if (mine.length === 0) return config;
    const [first, ...rest] = mine.flatMap(({ type, mount, i }) => [
      ...violations(type, mount, config.env, `mounts.${i}`),
    ]);
    if (first) throw invalid(first, ...rest);
    const found = mine.map(({ type, mount }) => storeMount(type, mount));
    return { ...config, mounts: [...(config.mounts ?? []), ...found] };
  }

  /** Errors: not_configured, outbound_refused and upstream_failed of an endpoint. */
  admit(_: string, config: SandboxConfig): Promise<void> | undefined {
    const mounts = storesOf(config);
    return mounts.length > 0 ? this.admitAll(mounts) : undefined;
  }

  mounts(config: SandboxConfig, id: string): readonly BoxMount[] {
    return storesOf(config).map(({ mountPath }, i) => ({
      source: placeOf(this.roots(), id, i).point,
      target: mountPath,
      served: true,
    }));
  }

  /** Errors: those of `HeldMount.open`; then none of them is mounted. */
  attach(row: Sandbox): Promise<void> | undefined {
    if (storesOf(row.config).length === 0) return undefined;
    return this.locks.run(row.id, async () => {
      await this.close(row);
      const opened: HeldMount[] = [];
      this.held.set(row.id, opened);
      try {
        await this.makeGroup();
        for (const spec of this.specsOf(row))
          opened.push(await HeldMount.open(spec, this.parts.app.outbound));
      } catch (error) {
        await this.close(row);
        throw error;
      }
      this.watch();
    });
  }

  detach(row: Sandbox, isGone: boolean): Promise<void> | undefined {
    if (storesOf(row.config).length === 0) return undefined;
    const work = this.locks.run(row.id, async () => {
      await this.close(row, isGone);
      if (isGone) await this.forget(row.id);
    });
    // The next start of the daemon, or of the sandbox, ends what this could not.
    return work.catch((error) =>
      this.parts.app.log.warn('a mount could not be ended', { sandbox: row.id, error }),
    );
  }

  /** Ends the mounts of a sandbox whose box has ended by itself; undefined when it has none. */
  letGoOfEnded(tenant: string, id: string): Promise<void> | undefined {
    if (!this.held.has(id)) return undefined;
    return this.locks.run(id, async () => {
      const row = this.parts.sandboxes.find(tenant, id);
      if (row && !IN_USE.includes(row.state)) await this.close(row);
    });
  }

  cut(row: Sandbox): Promise<void> | undefined {
    const held = this.held.get(row.id);
    return held && Promise.all(held.map((one) => one.cut())).then(() => {});
  }

  /** Takes up the mounts of sandboxes that run, and lets go of all others. For the start of the daemon. */
  async reconcile(): Promise<void> {
    const rows = this.parts.sandboxes.living().filter(({ config }) => storesOf(config).length > 0);
    for (const row of rows.filter(({ state }) => state === 'running')) this.adopt(row);
    const living = new Set(rows.filter(({ state }) => state !== 'failed').map(({ id }) => id));
    const { data, run: points } = this.roots();
    for (const id of new Set([...namesIn(data), ...namesIn(points)])) {
      if (this.held.has(id)) continue;
      for (const index of new Set([...namesIn(join(data, id)), ...namesIn(join(points, id))]))
        await letGo(placeOf(this.roots(), id, Number(index)));
      await this.removePoints(id);
      if (!living.has(id)) await this.forget(id);
    }
    this.watch();
  }

  /** Stops looking; the mounts of sandboxes that run stay. */
  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private async admitAll(mounts: readonly StoreMount[]): Promise<void> {
    const why = whyNot() ?? (await this.parts.driver.whyNoHostMounts?.());
    if (why) throw fail('not_configured', { message: why });
    for (const [i, { endpoint }] of mounts.entries()) {
      if (!endpoint) continue;
      const { hostname, port, protocol } = new URL(endpoint);
      const authority = `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
      const field = `mounts.${i}.endpoint`;
      const connection = await this.parts.app.outbound.connect({ authority, trust: 'tenant', field });
      connection.on('error', () => {});
      connection.destroy();
    }
  }

  private adopt(row: Sandbox): void {
    const adopted: HeldMount[] = [];
    for (const spec of this.specsOf(row)) {
      const one = HeldMount.adopt(spec, this.parts.app.outbound);
      if (one) adopted.push(one);
      else this.tellLost(row, spec);
    }
    this.held.set(row.id, adopted);
  }

  /** Ends the mounts of a sandbox, and says what has not reached the store. */
  private async close(row: Sandbox, isGone = false): Promise<void> {
    const held = this.held.get(row.id) ?? [];
    this.held.delete(row.id);
    const unsent = await Promise.all(held.map((one) => one.close()));
    for (const [i, count] of unsent.entries())
      if (count > 0) this.tellUnsent(row, held[i]?.spec, count, isGone);
    for (const one of held) this.lost.delete(one);
    for (const { place } of this.specsOf(row)) await letGo(place);
    await this.removePoints(row.id);
    if (this.held.size === 0) this.stop();
  }

  /** Others may still have something in the folders above: they stay then. */
  private async removePoints(id: string): Promise<void> {
    const { run: points, group } = this.roots();
    const folders = [join(points, id), points, dirname(points), ...(group ? [group] : [])];
    for (const dir of folders) await rmdir(dir).catch(() => {});
  }

  private async makeGroup(): Promise<void> {
    const { group } = this.roots();
    if (group) await mkdir(group, { recursive: true });
  }

  /** Takes away what was kept of the mounts of a sandbox that is gone. */
  private async forget(id: string): Promise<void> {
    const dir = join(this.roots().data, id);
    await run(['rm', '-rf', '--one-file-system', '--', dir], { timeoutMs: DELETE_MS });
  }

  private watch(): void {
    if (this.held.size === 0) return;
    this.timer ??= setInterval(() => this.look(), LOOK_MS).unref();
  }

  private look(): void {
    for (const [id, mounts] of this.held)
      for (const one of mounts) {
        const { mount } = one.spec;
        for (const line of one.news())
          this.parts.app.log.warn('an object store', { sandbox: id, bucket: mount.bucket, line });
        if (one.isServed || this.lost.has(one)) continue;
        this.lost.add(one);
        const row = this.parts.sandboxes.living().find((sandbox) => sandbox.id === id);
        if (row) this.tellLost(row, one.spec);
      }
  }

  private tellLost(row: Sandbox, { mount }: MountSpec): void {
    this.parts.events.record(row.tenant, row.id, {
      type: 'mount.lost',
      message: `${mount.mountPath} (${mount.type} bucket ${mount.bucket}) is gone; stop and revive the sandbox to have it again`,
      error: 'the program that served it has ended',
    });
  }

  private tellUnsent(row: Sandbox, spec: MountSpec | undefined, count: number, isGone: boolean): void {
    if (!spec) return;
    const { mount } = spec;
    this.parts.events.record(row.tenant, row.id, {
      type: 'mount.unsent',
      message: `${count} files of ${mount.mountPath} have not reached the ${mount.type} bucket ${mount.bucket}; ${isGone ? 'they are lost' : 'they are sent when the sandbox runs again'}`,
      metadata: { files: count },
      error: 'the store did not take them in time',
    });
  }

  private specsOf({ id, config }: Sandbox): MountSpec[] {
    return storesOf(config).map((mount, i) => ({
      mount,
      place: placeOf(this.roots(), id, i),
      remote: remoteOf(mount, config.env),
      owner: this.owner(),
      group: this.roots().group,
      field: `mounts.${i}.endpoint`,
    }));
  }

  /** The user of boxes as this host knows it. */
  private owner(): number {
    return this.parts.driver.name === 'docker' ? BOX_UID : idRangeOf(this.instance()).base + BOX_UID;
  }

  private roots(): Roots {
    this.known ??= rootsOf(this.parts.app.config.dataDir, this.instance());
    return this.known;
  }

  private instance(): string {
    const { db, clock } = this.parts.app;
    return instanceName(new SettingStore(db), clock.now());
  }
}

/** The mounts of object stores of a configuration, in order. */
function storesOf({ mounts = [] }: SandboxConfig): StoreMount[] {
  return mounts.filter((mount): mount is StoreMount => isStoreType(mount.type));
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}
