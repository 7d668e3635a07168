import { describe, expect, test } from 'bun:test';
import { Value } from '@sinclair/typebox/value';
import { enumeration, fields, ids, int64, model, nullable, object, oneOf, open, t } from './schema.ts';

const Colour = enumeration('Colour', ['COLOUR_UNSPECIFIED', 'COLOUR_RED']);

const CASES = [
  ['a model takes no field at all', model('M', { a: t.String() }), {}, true],
  ['an object needs its first fields', object('O', { a: t.String() }, { b: t.String() }), { b: 'x' }, false],
  [
    'an object does without its second ones',
    object('O', { a: t.String() }, { b: t.String() }),
    { a: 'x' },
    true,
  ],
  ['an open object takes what it does not name', open('P', { a: t.String() }), { a: 'x', z: 1 }, true],
  ['an enum takes its values', Colour, 'COLOUR_RED', true],
  ['an enum takes nothing else', Colour, 'COLOUR_BLUE', false],
  ['a choice takes nothing else', oneOf('asc', 'desc'), 'up', false],
  ['a nullable value may be null', nullable(t.String()), null, true],
  ['a nullable value may not be of another type', nullable(t.String()), 1, false],
  ['fields are all optional', fields({ limit: t.Integer() }), {}, true],
  ['a path parameter is never empty', ids('id'), { id: '' }, false],
] as const;

describe('schemas', () => {
  test.each(CASES)('%s', (_, schema, value, valid) => {
    expect(Value.Check(schema, value)).toBe(valid);
  });

  test.each([
    ['0', true],
    ['-9223372036854775808', true],
    ['1.5', false],
    ['', false],
    ['12345678901234567890', false],
  ])('a 64-bit integer as the text %s', (text, valid) => {
    expect(new RegExp(int64().pattern ?? '').test(text)).toBe(valid);
  });
});
