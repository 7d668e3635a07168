import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { POINT_SCHEMA, type Point, PointStore } from './history-store.ts';

const point = (at: number): Point => ({
  at,
  cpuPercent: at / 3,
  memoryBytes: at * 2 ** 20,
  memoryLimitBytes: 2 ** 40,
  memoryPercent: 0.5,
  networkRxBytes: at,
  networkTxBytes: at + 1,
  blockReadBytes: at + 2,
  blockWriteBytes: at + 3,
  pids: 7,
});

function newStore(): PointStore {
  const sqlite = new Database(':memory:', { strict: true });
  sqlite.run(POINT_SCHEMA.sql);
  return new PointStore(sqlite);
}

test('a point comes back as it was', () => {
  const store = newStore();
  store.add([{ tenant: 'a', sandboxId: 's', point: point(5) }], 0);
  expect(store.list('a', 's', 0, 10)).toEqual([point(5)]);
});

test('a list has the points of its tenant, sandbox and time, in order, and none that is too old', () => {
  const entry = fc.record({
    tenant: fc.constantFrom('a', 'b'),
    sandboxId: fc.constantFrom('s', 't'),
    at: fc.nat(50),
  });
  fc.assert(
    fc.property(
      fc.array(entry, { maxLength: 60 }),
      fc.nat(50),
      fc.nat(50),
      fc.nat(20),
      (entries, x, y, forgetBefore) => {
        const [from, to] = [Math.min(x, y), Math.max(x, y)];
        const store = newStore();
        // The ids of sandboxes differ between tenants, as they do in truth.
        const points = entries.map(({ tenant, sandboxId, at }) => ({
          tenant,
          sandboxId: tenant + sandboxId,
          point: point(at),
        }));
        store.add(points, forgetBefore);
        for (const tenant of ['a', 'b']) {
          const expected = new Set(
            entries
              .filter((one) => one.tenant === tenant && one.sandboxId === 's')
              .map(({ at }) => at)
              .filter((at) => at >= from && at <= to && at >= forgetBefore),
          );
          const listed = store.list(tenant, `${tenant}s`, from, to).map(({ at }) => at);
          expect(listed).toEqual([...expected].sort((one, other) => one - other));
          expect(store.list(tenant === 'a' ? 'b' : 'a', `${tenant}s`, 0, 100)).toEqual([]);
        }
      },
    ),
  );
});
