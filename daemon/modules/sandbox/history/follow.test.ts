import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { migrations } from '../../../../migrations/index.ts';
import { systemClock } from '../../../../src/kit/time.ts';
import { Bus } from '../../../bus/bus.ts';
import { openDatabase } from '../../../db/open.ts';
import { silentLog } from '../../../log/log.ts';
import { SandboxEvents } from './events.ts';
import { followEvents } from './follow.ts';

const TENANTS = ['a', 'b'] as const;

function scene() {
  const db = openDatabase(':memory:', migrations);
  const bus = new Bus(silentLog);
  for (const tenant of TENANTS)
    for (const id of [1, 2])
      db.raw.run(
        `INSERT INTO sandboxes (id, tenant, session_id, name, backend, state, config, labels, created_at, updated_at)
         VALUES ('${tenant}${id}', '${tenant}', 'ses', '', 'namespace', 'running', '{}', '{}', 0, 0)`,
      );
  return { db, bus, events: new SandboxEvents(db, systemClock, bus) };
}

test('whoever leaves and comes back, at any time, is told each event once and in order', async () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ tenant: fc.constantFrom(...TENANTS), box: fc.constantFrom(1, 2) }) },
    fc.constant('read' as const),
    fc.constant('leave' as const),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 40 }),
      fc.constantFrom(undefined, 'a1'),
      async (steps, box) => {
        const { db, bus, events } = scene();
        const told: number[] = [];
        const expected: number[] = [];
        let controller = new AbortController();
        const open = () => {
          const after = told.at(-1) ?? 0;
          return followEvents(events, bus, { tenant: 'a', sandboxId: box, after, signal: controller.signal });
        };
        let reader = open();
        const read = async () => {
          const { value } = await reader.next();
          if (value) told.push(value.id);
        };
        for (const one of steps) {
          if (one === 'leave') {
            controller.abort();
            await reader.return(undefined);
            controller = new AbortController();
            reader = open();
          } else if (one === 'read') {
            if (told.length < expected.length) await read();
          } else {
            const sandboxId = `${one.tenant}${one.box}`;
            events.record(one.tenant, sandboxId, { type: 'x', message: '' });
            if (one.tenant === 'a' && (box ?? sandboxId) === sandboxId) expected.push(events.newest());
          }
        }
        while (told.length < expected.length) await read();
        controller.abort();
        expect(told).toEqual(expected);
        expect((await reader.next()).done).toBe(true);
        db.close();
      },
    ),
    { numRuns: 60 },
  );
});

test('a reader who waits is woken by the next event, and by leaving', async () => {
  const { bus, events } = scene();
  const controller = new AbortController();
  const reader = followEvents(events, bus, { tenant: 'a', after: 0, signal: controller.signal });
  const first = reader.next();
  events.record('b', 'b1', { type: 'not mine', message: '' });
  events.record('a', 'a1', { type: 'mine', message: '' });
  expect((await first).value?.type).toBe('mine');
  const second = reader.next();
  controller.abort();
  expect((await second).done).toBe(true);
});

test('it ends when nothing can happen any more, after the last event was told', async () => {
  const { bus, events } = scene();
  let over = false;
  const { signal } = new AbortController();
  const reader = followEvents(events, bus, {
    tenant: 'a',
    sandboxId: 'a1',
    after: 0,
    signal,
    isOver: () => over,
  });
  const told: string[] = [];
  const reading = (async () => {
    for await (const { type } of reader) told.push(type);
  })();
  await Bun.sleep(0);
  over = true;
  events.record('a', 'a1', { type: 'terminated', message: '' });
  await reading;
  expect(told).toEqual(['terminated']);
});
