import { describe, expect, test } from 'bun:test';
import { enumeration, int32, model, nullable, oneOf, stringMap, struct, t } from '../../../src/api/schema.ts';
import { schemaWriter } from './schema.ts';

const Colour = enumeration('Colour', ['RED', 'GREEN']);
const Shape = model('Shape', { colour: Colour });
const REF = { $ref: '#/components/schemas/Shape' };

const CASES = [
  ['a constant is an enum of one', t.Literal('list'), { type: 'string', enum: ['list'] }],
  ['constants are one enum', t.Union([t.Literal('a'), t.Literal('b')]), { type: 'string', enum: ['a', 'b'] }],
  ['a choice is an enum', oneOf('a', 'b'), { type: 'string', enum: ['a', 'b'] }],
  ['null is a flag', nullable(t.String()), { type: 'string', nullable: true }],
  [
    'null is a value of a choice',
    nullable(oneOf('a')),
    { type: 'string', nullable: true, enum: ['a', null] },
  ],
  ['null stands beside a reference', nullable(Shape), { type: 'object', nullable: true, allOf: [REF] }],
  [
    'null stands at the first of several types',
    t.Union([t.String(), t.Array(t.String()), t.Null()]),
    {
      anyOf: [
        { type: 'string', nullable: true },
        { type: 'array', items: { type: 'string' } },
      ],
    },
  ],
  ['anything at all has no keyword', t.Unknown(), {}],
  [
    'a map has additional properties',
    stringMap(),
    { type: 'object', additionalProperties: { type: 'string' } },
  ],
  ['a free object has any', struct(), { type: 'object', additionalProperties: {} }],
  [
    'an exclusive bound is a flag',
    t.Number({ exclusiveMinimum: 0 }),
    { type: 'number', minimum: 0, exclusiveMinimum: true },
  ],
  ['the bounds of int32 go without saying', int32(), { type: 'integer', format: 'int32' }],
  ['other bounds are said', int32({ minimum: 1 }), { type: 'integer', format: 'int32', minimum: 1 }],
  ['a name is a reference', Shape, REF],
] as const;

describe('the schema writer', () => {
  test.each(CASES)('%s', (_, schema, expected) => {
    const written = schemaWriter({ nameOf: ({ $id = '' }) => $id }).write(schema, 'agents');
    expect(JSON.parse(JSON.stringify(written))).toEqual(expected);
  });

  test('keeps named schemas once, nested ones included', () => {
    const writer = schemaWriter({ nameOf: ({ $id = '' }) => $id });
    writer.write(t.Array(Shape), 'agents');
    writer.write(Shape, 'agents');
    expect(writer.schemas).toEqual({
      Shape: { type: 'object', properties: { colour: { $ref: '#/components/schemas/Colour' } } },
      Colour: { type: 'string', enum: ['RED', 'GREEN'], default: 'RED' },
    });
  });
});
