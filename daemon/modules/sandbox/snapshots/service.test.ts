import { beforeEach, expect, test } from 'bun:test';
import { fail } from '../../../../src/errors/app-error.ts';
import { DAY_MS } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import type { Database } from '../../../db/open.ts';
import { openTestApp } from '../../../testing/app.ts';
import type { SandboxDriver } from '../drivers/driver.ts';
import { SandboxEvents } from '../history/events.ts';
import { resolveConfig } from '../lifecycle/config.ts';
import { LifecycleService } from '../lifecycle/service.ts';
import { SandboxStore } from '../lifecycle/store.ts';
import { SnapshotService } from './service.ts';
import { SnapshotStore } from './store.ts';

const TENANT = 'org_a';
let now: number;
let kept: Set<string>;
let isFull: boolean;
let app: App;
let db: Database;
let service: SnapshotService;

const driver = {
  name: 'namespace',
  snapshotImage: async (image: string, id: string) => {
    if (isFull) throw fail('disk_full', { message: 'The disk is full.' });
    kept.add(id);
    return { sizeBytes: 0, image: { reference: image, id: 'sha256:1', env: {}, workDir: '/' } };
  },
  removeSnapshot: async (id: string) => void kept.delete(id),
  listSnapshots: async () => [...kept],
} as unknown as SandboxDriver;

beforeEach(() => {
  now = Date.UTC(2026, 0, 1);
  kept = new Set();
  isFull = false;
  app = openTestApp({ now: () => now }, { 'data.dir': '/nonexistent' });
  ({ db } = app);
  const lifecycle = new LifecycleService(
    app,
    driver,
    new SandboxStore(db),
    new SandboxEvents(db, app.clock, app.bus),
  );
  service = new SnapshotService(app, driver, lifecycle, new SnapshotStore(db));
});

const made = async (name: string) => {
  const { id } = service.create(TENANT, { name, image: 'debian:12' });
  await service.make(TENANT, id);
  return service.get(TENANT, id);
};

test('is pending until its job has made it', async () => {
  const { id, state } = service.create(TENANT, { name: 'base', image: 'debian:12' });
  expect(state).toBe('pending');
  expect(app.jobs.list(TENANT, 10, 0)).toMatchObject([
    { kind: 'snapshot.make', payload: { snapshotId: id } },
  ]);
  await service.make(TENANT, id);
  expect(service.get(TENANT, 'base')).toMatchObject({ id, state: 'active', imageName: 'debian:12' });
});

test('that fails says why, leaves nothing, and cannot be used', async () => {
  isFull = true;
  const row = await made('base');
  expect(row).toMatchObject({ state: 'error', errorReason: 'The disk is full.' });
  expect(kept.size).toBe(0);
  const config = resolveConfig({}, app.config);
  expect(() => service.resolve(TENANT, { snapshotId: 'base' }, config)).toThrow('The disk is full.');
});

test('that was cut off is an error after the start, and what no row knows is removed', async () => {
  const { id } = service.create(TENANT, { name: 'cut-off', image: 'debian:12' });
  const other = await made('whole');
  for (const unknown of [id, 'snp_orphan', 'snp_fork']) kept.add(unknown);
  service.settleInterrupted();
  await service.removeUnknown(new Set(['snp_fork']));
  expect(service.get(TENANT, id)).toMatchObject({ state: 'error' });
  expect([...kept].sort()).toEqual([id, other.id, 'snp_fork'].sort());
  await service.make(TENANT, id);
  expect(service.get(TENANT, id)).toMatchObject({ state: 'error' });
});

test('is inactive after two weeks without use, and active again when it is used', async () => {
  const { id } = await made('base');
  const config = service.resolve(TENANT, { snapshotId: 'base' }, resolveConfig({}, app.config));
  expect(config).toMatchObject({ snapshotId: id, image: `snapshot:${id}` });
  now += 13 * DAY_MS;
  service.used(TENANT, config);
  now += 13 * DAY_MS;
  service.deactivateUnused();
  expect(service.get(TENANT, id).state).toBe('active');
  now += 2 * DAY_MS;
  service.deactivateUnused();
  expect(service.get(TENANT, id).state).toBe('inactive');
  service.check(TENANT, config);
  service.used(TENANT, config);
  expect(service.get(TENANT, id)).toMatchObject({ state: 'active', lastUsedAt: now });
});

test('of another tenant is not there, for any operation', async () => {
  const { id } = await made('base');
  const config = resolveConfig({}, app.config);
  for (const name of [id, 'base']) {
    expect(() => service.get('org_b', name)).toThrow('There is no snapshot');
    expect(() => service.resolve('org_b', { snapshotId: name }, config)).toThrow('There is no snapshot');
    expect(service.remove('org_b', name)).rejects.toThrow('There is no snapshot');
  }
  expect(service.list('org_b', { limit: 10, offset: 0 })).toEqual({ rows: [], total: 0 });
  expect(service.create('org_b', { name: 'base', image: 'debian:12' }).state).toBe('pending');
});
