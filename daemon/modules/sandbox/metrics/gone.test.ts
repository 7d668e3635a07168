import { expect, test } from 'bun:test';
import { fail } from '../../../../src/errors/app-error.ts';
import type { SandboxDriver } from '../drivers/driver.ts';
import type { LifecycleService } from '../lifecycle/service.ts';
import type { Sandbox } from '../tables.ts';
import { maybeGone, noticeGone } from './gone.ts';

test.each([
  ['a box that is not there', fail('not_found', { what: 'box', id: 'x' }), true],
  ['a box that does not run', fail('failed_precondition', { message: 'no' }), true],
  ['a backend that cannot be asked', fail('unavailable', { message: 'no' }), false],
  ['a host without a runtime', fail('runtime_missing', { message: 'no' }), false],
  ['anything else', new Error('no'), false],
])('%s: may it be gone?', (_, error, expected) => {
  expect(maybeGone(error)).toBe(expected);
});

test.each([
  ['running', 'running', []],
  ['running', 'stopped', ['stop', 'sleeping']],
  ['running', 'missing', ['failed']],
  ['stopping', 'stopped', []],
  ['terminating', 'missing', []],
] as const)('a sandbox that is %s whose box is %s', async (state, box, expected) => {
  const done: string[] = [];
  const row = { id: 'sbx_1', tenant: 't', state } as Sandbox;
  const lifecycle = {
    sleepDates: () => ({}),
    exclusively: (_tenant: string, _id: string, work: (row: Sandbox) => unknown) => work(row),
    settle: (_row: Sandbox, from: string, change: { state: string }) => {
      expect(from).toBe('running');
      done.push(change.state);
    },
  } as unknown as LifecycleService;
  const driver = {
    inspect: async () => ({ id: row.id, containerId: 'c', state: box }),
    stop: async () => void done.push('stop'),
  } as unknown as SandboxDriver;
  await noticeGone(lifecycle, driver, row);
  expect(done).toEqual([...expected]);
});
