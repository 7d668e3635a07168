import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { AppError } from '../../src/errors/app-error.ts';
import { argumentSchema } from './argument-schema.ts';

const CITY = {
  type: 'object',
  properties: {
    city: { type: 'string', minLength: 1, pattern: '^[a-z]+$' },
    days: { type: 'integer', minimum: 1 },
    unit: { enum: ['metric', 'imperial'] },
    tags: { type: 'array', uniqueItems: true, items: { type: 'object' } },
  },
  patternProperties: { '^x-': { type: 'number' } },
  required: ['city'],
  additionalProperties: false,
};

const wrong = (args: unknown, schema: Record<string, unknown> = CITY) =>
  argumentSchema(schema, 'parameters')
    .check(args, 'arguments')
    .map(({ field }) => field);

describe('arguments are checked', () => {
  test.each<[string, unknown, string[]]>([
    ['what fits', { city: 'oslo', days: 2, unit: 'metric', 'x-a': 1 }, []],
    ['one that is missing', {}, ['arguments.city']],
    ['another type', { city: 'oslo', days: 'two' }, ['arguments.days']],
    ['a pattern', { city: 'OSLO' }, ['arguments.city']],
    ['a value out of a list', { city: 'oslo', unit: 'k' }, ['arguments.unit']],
    ['one that nobody knows', { city: 'oslo', planet: 'mars' }, ['arguments.planet']],
    ['names by pattern', { city: 'oslo', 'x-a': 'one' }, ['arguments.x-a']],
    [
      'the same twice, written otherwise',
      {
        city: 'oslo',
        tags: [
          { a: 1, b: 2 },
          { b: 2, a: 1 },
        ],
      },
      ['arguments.tags'],
    ],
    ['no object', 'oslo', ['arguments']],
    ['too much', { city: 'a'.repeat(300_000) }, ['arguments']],
  ])('%s', (_, args, fields) => expect(wrong(args)).toEqual(fields));
});

describe('a schema is refused', () => {
  const doubled = Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [
      `a${i}`,
      { allOf: [{ $ref: `#/$defs/a${i + 1}` }, { $ref: `#/$defs/a${i + 1}` }] },
    ]),
  );
  test.each<[string, Record<string, unknown>, string]>([
    ['that is no schema', { type: 'object', properties: { a: { type: 'text' } } }, 'not a JSON Schema'],
    ['of something else', { type: 'string' }, 'object'],
    ['that goes in circles', { properties: { a: { $ref: '#' } } }, 'refers to itself'],
    ['that leads nowhere', { properties: { a: { $ref: '#/$defs/b' } } }, 'no place inside'],
    ['that leads outside', { properties: { a: { $ref: 'http://127.0.0.1/x' } } }, 'no place inside'],
    [
      'that is small and endless',
      { $defs: { ...doubled, a40: { type: 'object' } }, $ref: '#/$defs/a0' },
      'more than 2000 steps',
    ],
    ['that moves its references', { $defs: { a: { $id: 'b', $ref: '#' } } }, 'has $id'],
    ['with a pattern that looks back', { properties: { a: { pattern: '(a)\\1' } } }, 'not a JSON Schema'],
    ['that is too long', { description: 'x'.repeat(70_000) }, '64 KiB'],
  ])('%s', (_, schema, words) => {
    let message = '';
    try {
      argumentSchema(schema, 'parameters');
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      expect(error.violations[0]?.field).toBe('parameters');
      message = error.message;
    }
    expect(message).toContain(words);
  });
});

test('a pattern that would take for ever elsewhere answers', () => {
  const schema = { properties: { a: { type: 'string', pattern: '^(a+)+$' } } };
  expect(wrong({ a: `${'a'.repeat(50_000)}!` }, schema)).toEqual(['arguments.a']);
});

test('what would take long is refused before it is looked at', () => {
  const many = {
    properties: { a: { items: { anyOf: Array.from({ length: 480 }, (_, i) => ({ const: i })) } } },
  };
  expect(wrong({ a: Array.from({ length: 60_000 }, () => 479) }, many)).toEqual(['arguments']);
  expect(wrong({ a: Array.from({ length: 100 }, () => 479) }, many)).toEqual([]);
  const pattern = { pattern: '^(([a-z]|[a-m])+x?)*$' };
  const patterns = { properties: { a: { allOf: Array.from({ length: 40 }, () => pattern) } } };
  expect(wrong({ a: 'a'.repeat(250_000) }, patterns)).toEqual(['arguments']);
  expect(wrong({ a: 'a'.repeat(1_000) }, patterns)).toEqual([]);
});

test('whatever is sent is judged, and nothing is thrown', () => {
  const schema = argumentSchema(CITY, 'parameters');
  fc.assert(
    fc.property(fc.jsonValue(), (args) => {
      for (const { field } of schema.check(args, 'arguments')) expect(field).toStartWith('arguments');
    }),
  );
});
