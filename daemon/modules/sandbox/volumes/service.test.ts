import { afterEach, beforeEach, expect, test } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrations } from '../../../../migrations/index.ts';
import { systemClock } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import { Config } from '../../../config/config.ts';
import { openDatabase } from '../../../db/open.ts';
import { Jobs } from '../../../jobs/queue.ts';
import { silentLog } from '../../../log/log.ts';
import { resolveConfig } from '../lifecycle/config.ts';
import { VolumeService } from './service.ts';
import { VolumeStore } from './store.ts';

const TENANT = 'org_a';
let dir: string;
let app: App;
let service: VolumeService;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-volumes-'));
  const db = openDatabase(':memory:', migrations);
  app = {
    config: new Config({ flags: { 'data.dir': dir } }),
    db,
    clock: systemClock,
    log: silentLog,
    jobs: new Jobs(db, systemClock, silentLog),
  } as App;
  service = new VolumeService(app, new VolumeStore(db));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const mount = (bucket: string, more: object = {}) => ({
  mounts: [{ type: 'svc-volume' as const, bucket, mountPath: '/data', ...more }],
});

test('of another tenant is not there, for any operation', async () => {
  const { id } = await service.create(TENANT, 'data');
  const config = resolveConfig({}, app.config);
  const mine = service.resolve(TENANT, mount('data'), config);
  for (const name of [id, 'data']) {
    expect(() => service.get('org_b', name)).toThrow('There is no volume');
    expect(() => service.remove('org_b', name)).toThrow('There is no volume');
    expect(() => service.resolve('org_b', mount(name), config)).toThrow('There is no volume');
  }
  expect(() => service.check('org_b', mine)).toThrow('There is no volume');
  expect(service.list('org_b', { limit: 10, offset: 0 })).toEqual({ rows: [], total: 0 });
  expect((await service.create('org_b', 'data')).id).not.toBe(id);
});

test('is mounted from its folder, under its id', async () => {
  const { id } = await service.create(TENANT, 'data');
  const config = service.resolve(TENANT, mount('data', { subpath: 'a/b' }), resolveConfig({}, app.config));
  expect(service.mounts(config)).toEqual([
    { source: join(dir, 'volumes', id), subpath: 'a/b', target: '/data' },
  ]);
  service.used(TENANT, config);
  expect(service.get(TENANT, id).lastUsedAt).toBeNumber();
});

test('that is deleted is gone at once, its name is free, and its files go when the job runs', async () => {
  const { id } = await service.create(TENANT, 'data');
  writeFileSync(join(dir, 'volumes', id, 'file'), '');
  service.remove(TENANT, 'data');
  service.remove(TENANT, id);
  expect(app.jobs.list(TENANT, 10, 0)).toMatchObject([{ kind: 'volume.delete', payload: { volumeId: id } }]);
  expect(() => service.resolve(TENANT, mount(id), resolveConfig({}, app.config))).toThrow('deleting');
  await service.create(TENANT, 'data');
  await service.finishRemoval(TENANT, id);
  expect(existsSync(join(dir, 'volumes', id))).toBe(false);
  expect(() => service.get(TENANT, id)).toThrow('There is no volume');
});

test('what was cut off is finished at the next start, and folders without a row stay', async () => {
  const { id } = await service.create(TENANT, 'kept');
  const unmade = await service.create(TENANT, 'unmade');
  new VolumeStore(app.db).change(TENANT, unmade.id, { state: 'creating' });
  rmSync(join(dir, 'volumes', unmade.id), { recursive: true });
  for (const name of ['.trash-vol_1', 'vol_nobodys'])
    mkdirSync(join(dir, 'volumes', name, 'x'), { recursive: true });
  await service.reconcile();
  expect(service.get(TENANT, 'unmade').state).toBe('ready');
  expect(readdirSync(join(dir, 'volumes')).sort()).toEqual([id, unmade.id, 'vol_nobodys'].sort());
});
