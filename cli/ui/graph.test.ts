import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { bar, graph, resample, sparkline } from './graph.ts';

test.each([
  [[0, 50, 100], 100, '▁▄█'],
  [[undefined, 100, undefined], 100, ' █ '],
  [[500, -5], 100, '█▁'],
  [[1], 0, '▁'],
])('%p of at most %d is drawn as %p', (values, most, line) => {
  expect(sparkline(values, most)).toBe(line);
});

test.each([
  [0, '    '],
  [1, '████'],
  [0.5, '██  '],
  [0.53, '██▏ '],
  [7, '████'],
  [Number.NaN, '    '],
])('a share of %d is the bar %p', (share, line) => {
  expect(bar(share, 4)).toBe(line);
});

test('a graph has one column a value: filled below, empty above', () => {
  expect(graph([100, 50, 0, undefined], 100, 2)).toEqual(['█   ', '██▁ ']);
});

test('to bring values to a width keeps the highest, and leaves those alone that fit', () => {
  const values = fc.array(fc.option(fc.nat(100), { nil: undefined }), { minLength: 1, maxLength: 300 });
  fc.assert(
    fc.property(values, fc.integer({ min: 1, max: 100 }), (all, width) => {
      const fitted = resample(all, width);
      expect(fitted).toHaveLength(Math.min(all.length, width));
      const highest = (list: typeof all) => Math.max(-1, ...list.filter((value) => value !== undefined));
      expect(highest(fitted)).toBe(highest(all));
    }),
  );
});
