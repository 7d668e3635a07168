import { beforeEach, describe, expect, test } from 'bun:test';
import type { SandboxEvents } from '../history/events.ts';
import type { LifecycleService } from './service.ts';
import { caller, type FailingHost, openScene } from './testing/scene.ts';

let host: FailingHost;
let service: LifecycleService;
let events: SandboxEvents;
beforeEach(() => {
  ({ host, service, events } = openScene());
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

test('a change that somebody else was quicker with is not recorded', async () => {
  const row = await service.create(caller, {});
  await service.stop('org_a', row.id);
  const before = events.list('org_a', row.id, undefined, 100, 0).total;
  service.settle(row, 'running', { failure: 'late' }, { type: 'error', message: 'Late' });
  expect(service.get('org_a', row.id).failure).toBeNull();
  expect(events.list('org_a', row.id, undefined, 100, 0).total).toBe(before);
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
