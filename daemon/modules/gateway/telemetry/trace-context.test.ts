import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { readTraceParent, sampledContext } from './trace-context.ts';

const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((array) => array.toHex());
const traceId = hex(16).filter((id) => /[1-9a-f]/.test(id));
const parent = '00f067aa0ba902b7';
const trace = '4bf92f3577b34da6a3ce929d0e0e4736';

test.each([
  [`00-${trace}-${parent}-01`, true],
  [`00-${trace}-${parent}-00`, false],
  [` 00-${trace}-${parent}-03 `, true],
  [`cc-${trace}-${parent}-01-what-the-future-brings`, true],
])('%p is of a trace, recorded by the caller: %p', (header, isSampled) => {
  expect(readTraceParent(header)).toEqual({ traceId: trace, parentId: parent, isSampled });
});

test.each([
  '',
  `00-${trace}-${parent}`,
  `00-${trace}-${parent}-01-more`,
  `ff-${trace}-${parent}-01`,
  `00-${'0'.repeat(32)}-${parent}-01`,
  `00-${trace}-${'0'.repeat(16)}-01`,
  `00-${trace.toUpperCase()}-${parent}-01`,
])('%p is none, and a trace begins here', (header) => {
  expect(readTraceParent(header)).toBeUndefined();
  const context = sampledContext(header, 1);
  expect(context?.parentId).toBeUndefined();
  expect(context?.traceId).toMatch(/^[0-9a-f]{32}$/);
});

test('no text makes it fail, and what it takes is of the form that it sends', () => {
  fc.assert(
    fc.property(fc.string(), (header) => {
      const read = readTraceParent(header);
      if (read) expect(`${read.traceId}-${read.parentId}`).toMatch(/^[0-9a-f]{32}-[0-9a-f]{16}$/);
    }),
  );
});

test('the trace id decides who is traced, and a higher share takes all that a lower one takes', () => {
  const rate = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(traceId, rate, rate, (id, one, other) => {
      const header = `00-${id}-${parent}-01`;
      const [low, high] = one < other ? [one, other] : [other, one];
      const isTraced = sampledContext(header, low) !== undefined;
      expect(sampledContext(header, low) !== undefined).toBe(isTraced);
      if (isTraced) expect(sampledContext(header, high)).toEqual({ traceId: id, parentId: parent });
    }),
  );
});

test('the share is kept', () => {
  const traced = Array.from({ length: 4_000 }, () => sampledContext(undefined, 0.25)).filter(Boolean).length;
  expect(traced).toBeGreaterThan(800);
  expect(traced).toBeLessThan(1_200);
  expect(sampledContext(undefined, 0)).toBeUndefined();
});

test('a caller who does not record its trace has none here', () => {
  expect(sampledContext(`00-${trace}-${parent}-00`, 1)).toBeUndefined();
});
