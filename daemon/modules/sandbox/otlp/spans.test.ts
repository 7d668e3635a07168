import { expect, test } from 'bun:test';
import type { SandboxEventRow } from '../tables.ts';
import { toSpan } from './spans.ts';

const event = (id: number, type: string, more: Partial<SandboxEventRow> = {}): SandboxEventRow => ({
  id,
  tenant: 't',
  sandboxId: 'sbx_1',
  type,
  message: 'secret text of a command',
  metadata: {},
  durationMs: null,
  error: null,
  createdAt: id * 1_000,
  ...more,
});

/** The span of the last of some events. */
function spanOf(...history: SandboxEventRow[]) {
  const last = history.at(-1) as SandboxEventRow;
  const lastOf = (
    _tenant: string,
    _sandbox: string,
    types: readonly string[],
    before = Number.POSITIVE_INFINITY,
  ) => history.findLast(({ id, type }) => id < before && types.includes(type));
  const span = toSpan(last, { lastOf });
  const ms = ({ low, high }: { low: number; high: number }) =>
    Number(((BigInt(high) << 32n) + BigInt(low)) / 1_000_000n);
  return span && { ...span, from: ms(span.startTimeUnixNano), to: ms(span.endTimeUnixNano) };
}

test.each([
  ['created', 'running', 'create'],
  ['stopping', 'stopped', 'stop'],
  ['reviving', 'revived', 'revive'],
  ['restoring', 'revived', 'restore'],
  ['archiving', 'archived', 'archive'],
  ['terminating', 'terminated', 'terminate'],
  ['created', 'failed', 'create'],
  ['stopping', 'error', 'stop'],
])('what %s began and %s ended is the span sandbox.%s, from one to the other', (begin, end, name) => {
  const history = [event(1, begin), event(2, 'command.finished'), event(3, end)];
  expect(spanOf(...history)).toMatchObject({ name: `sandbox.${name}`, from: 1_000, to: 3_000 });
  expect(spanOf(event(1, begin))).toBeUndefined();
});

test('a duration that was measured counts for more', () => {
  expect(spanOf(event(1, 'created'), event(9, 'running', { durationMs: 40 }))).toMatchObject({
    from: 8_960,
    to: 9_000,
  });
});

test('what nothing began here took no time: a box that was found stopped', () => {
  expect(spanOf(event(1, 'created'), event(2, 'running'), event(3, 'stopped'))).toMatchObject({
    name: 'sandbox.stop',
    from: 3_000,
    to: 3_000,
  });
});

test.each([
  [{ error: 'no room' }, { code: 2, message: 'no room' }],
  [{ metadata: { exitCode: 3 } }, { code: 2, message: 'exit status 3' }],
  [{ metadata: { exitCode: 0 } }, { code: 1 }],
  [{}, { code: 1 }],
])('%p has the status %p', (more, status) => {
  expect(spanOf(event(1, 'command.finished', more))?.status).toEqual(status as { code: 1 });
});

test('other events are spans under their own type, and no text of theirs leaves', () => {
  const span = spanOf(event(1, 'port.exposed', { metadata: { secret: 'x' } }));
  expect(span?.name).toBe('sandbox.port.exposed');
  expect(JSON.stringify(span)).not.toContain('secret');
});

test('the same event has the same ids each time, another one has others', () => {
  const ids = (one: SandboxEventRow) => JSON.stringify([spanOf(one)?.traceId, spanOf(one)?.spanId]);
  expect(ids(event(1, 'x'))).toBe(ids(event(1, 'x')));
  expect(ids(event(1, 'x'))).not.toBe(ids(event(2, 'x')));
  expect(ids(event(1, 'x'))).not.toBe(ids(event(1, 'x', { tenant: 'u' })));
});
