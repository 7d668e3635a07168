import { expect, test } from 'bun:test';
import { DEEPEST, isNestedDeeper } from './nesting.ts';

const lists = (depth: number) => JSON.parse('['.repeat(depth) + ']'.repeat(depth)) as unknown;
const objects = (depth: number) => JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`) as unknown;

test.each([lists, objects])('values in one another are counted', (nested) => {
  expect(isNestedDeeper(nested(3), 3)).toBe(false);
  expect(isNestedDeeper(nested(4), 3)).toBe(true);
  expect(isNestedDeeper([1, nested(2), 'x'], 3)).toBe(false);
  expect(isNestedDeeper({ a: 1, b: nested(3) }, 3)).toBe(true);
  expect(isNestedDeeper(nested(DEEPEST))).toBe(false);
  expect(isNestedDeeper(nested(200_000))).toBe(true);
});

test.each(['x', 1, null, undefined, true])('%p has no depth', (value) => {
  expect(isNestedDeeper(value, 0)).toBe(false);
});
