import { beforeEach, describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { migrations } from '../../../../migrations/index.ts';
import { fail } from '../../../../src/errors/app-error.ts';
import { systemClock } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import { Audit } from '../../../audit/audit.ts';
import { Bus } from '../../../bus/bus.ts';
import { Config } from '../../../config/config.ts';
import { openDatabase } from '../../../db/open.ts';
import type { Caller } from '../../../http/route.ts';
import { Jobs } from '../../../jobs/queue.ts';
import { silentLog } from '../../../log/log.ts';
import { Secrets } from '../../../secrets/secrets.ts';
import type { SandboxDriver } from '../drivers/driver.ts';
import { SandboxEvents } from '../history/events.ts';
import { LifecycleService } from './service.ts';
import { SandboxStore } from './store.ts';

const caller: Caller = { tenant: 'org_a', role: 'owner', actor: 'key_1', via: 'api-key' };

/** A host that does what it is told, until `broken` names a step that it refuses. */
class FailingHost {
  broken: 'create' | 'start' | 'stop' | 'remove' | undefined;
  readonly boxes = new Set<string>();

  readonly driver = {
    name: 'namespace',
    create: async ({ id }: { id: string }) => {
      this.step('create');
      this.boxes.add(id);
      return {
        id,
        containerId: `c-${id}`,
        image: { reference: 'host', id: 'host', env: {}, workDir: '/workspace' },
      };
    },
    start: async (id: string) => {
      this.step('start');
      return {
        id,
        containerId: `c-${id}`,
        image: { reference: 'host', id: 'host', env: {}, workDir: '/workspace' },
      };
    },
    stop: async () => this.step('stop'),
    remove: async (id: string) => {
      this.step('remove');
      this.boxes.delete(id);
    },
  } as unknown as SandboxDriver;

  private step(name: FailingHost['broken']): void {
    if (this.broken === name) throw fail('unavailable', { message: `The host could not ${name}.` });
  }
}

let host: FailingHost;
let service: LifecycleService;
beforeEach(() => {
  const db = openDatabase(':memory:', migrations);
  const bus = new Bus(silentLog);
  const app: App = {
    config: new Config({ flags: { 'data.dir': '/nonexistent', 'sandbox.max': 3 } }),
    db,
    bus,
    clock: systemClock,
    log: silentLog,
    jobs: new Jobs(db, systemClock, silentLog),
    secrets: new Secrets(randomBytes(32)),
    audit: new Audit(db, systemClock),
    outbound: { fetch: () => Promise.reject(new Error('nothing leaves a test')) },
  };
  host = new FailingHost();
  service = new LifecycleService(
    app,
    host.driver,
    new SandboxStore(db),
    new SandboxEvents(db, systemClock, bus),
  );
});

const stateOf = (id: string) => service.get('org_a', id).state;

describe('when the host fails', () => {
  test('to make a sandbox, it is failed with the reason, and the same key tries again', async () => {
    host.broken = 'create';
    await expect(service.create(caller, { name: 'box' }, 'key')).rejects.toThrow('could not create');
    expect(service.get('org_a', 'box')).toMatchObject({
      state: 'failed',
      failure: 'The host could not create.',
      reason: 'error',
    });
    host.broken = undefined;
    expect(await service.create(caller, { name: 'box' }, 'key')).toMatchObject({
      state: 'running',
      name: 'box',
    });
  });

  test('to stop one, it goes on running', async () => {
    const { id } = await service.create(caller, {});
    host.broken = 'stop';
    await expect(service.stop('org_a', id)).rejects.toThrow('could not stop');
    expect(stateOf(id)).toBe('running');
  });

  test('to wake one, it goes on sleeping, with the reason', async () => {
    const { id } = await service.create(caller, {});
    await service.stop('org_a', id);
    host.broken = 'start';
    await expect(service.revive('org_a', id)).rejects.toThrow('could not start');
    expect(service.get('org_a', id)).toMatchObject({
      state: 'sleeping',
      failure: 'The host could not start.',
    });
    host.broken = undefined;
    expect(await service.revive('org_a', id)).toMatchObject({ state: 'running', failure: null });
  });

  test('to remove one, it can be asked again', async () => {
    const { id } = await service.create(caller, {});
    host.broken = 'remove';
    await expect(service.terminate('org_a', id)).rejects.toThrow('could not remove');
    expect(stateOf(id)).toBe('terminating');
    host.broken = undefined;
    expect(await service.terminate('org_a', id)).toMatchObject({ state: 'terminated' });
    expect(host.boxes.size).toBe(0);
  });
});

test('operations on one sandbox at once take it one way: one wins, the other is refused', async () => {
  const { id } = await service.create(caller, {});
  const results = await Promise.allSettled([service.stop('org_a', id), service.stop('org_a', id)]);
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  expect(stateOf(id)).toBe('sleeping');
});

test('there is room for sandbox.max and no more; a sleeping one takes none', async () => {
  const made = await Promise.all([1, 2, 3].map(() => service.create(caller, {})));
  await expect(service.create(caller, {})).rejects.toMatchObject({ http: 429 });
  await service.stop('org_a', made[0]?.id ?? '');
  expect(await service.create(caller, {})).toMatchObject({ state: 'running' });
});

test('another tenant finds nothing by id, name or session', async () => {
  const { id, name, sessionId } = await service.create(caller, { name: 'mine' });
  for (const key of [id, name, sessionId]) {
    expect(service.get('org_a', key).id).toBe(id);
    expect(() => service.get('org_b', key)).toThrow('There is no sandbox');
  }
});

test('a name is free again when its sandbox is gone', async () => {
  const { id } = await service.create(caller, { name: 'box' });
  await expect(service.create(caller, { name: 'box' })).rejects.toMatchObject({ http: 409 });
  await service.terminate('org_a', id);
  expect(await service.create(caller, { name: 'box' })).toMatchObject({ name: 'box' });
});
