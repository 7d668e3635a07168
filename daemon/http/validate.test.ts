import { describe, expect, test } from 'bun:test';
import { enumeration, int32, int64, model, stringMap, t, timestamp } from '../../src/api/schema.ts';
import { AppError } from '../../src/errors/app-error.ts';
import { validator } from './validate.ts';

const Inner = model('Inner', { port: int32({ minimum: 1, maximum: 65_535 }) });
const Body = t.Composite([
  t.Object({ command: t.String({ minLength: 1 }) }),
  model('Rest', {
    memoryMb: int64(),
    enabled: t.Boolean(),
    mode: enumeration('Mode', ['MODE_A', 'MODE_B']),
    labels: stringMap(),
    extra_seconds: int32(),
    networkBlockAll: t.Boolean(),
    inner: Inner,
    list: t.Array(Inner),
    at: timestamp(),
  }),
]);
const body = validator(Body, 'native');

function violations(value: unknown, check = body): Record<string, string> {
  try {
    check.check(value);
  } catch (error) {
    if (error instanceof AppError)
      return Object.fromEntries(error.violations.map(({ field, description }) => [field, description]));
    throw error;
  }
  return {};
}

describe('a wrong field is named, with what it must be', () => {
  test.each<[unknown, string, string]>([
    [{}, 'command', 'is required'],
    [{ command: 7 }, 'command', 'string'],
    [{ command: '' }, 'command', 'length'],
    [{ command: 'x', mode: 'MODE_C' }, 'mode', 'MODE_A, MODE_B'],
    [{ command: 'x', mode: ['MODE_A'] }, 'mode', 'MODE_A, MODE_B'],
    [{ command: 'x', mode: { toString: '' } }, 'mode', 'MODE_A, MODE_B'],
    [{ command: 'x', memoryMb: 'much' }, 'memoryMb', 'whole number'],
    [{ command: 'x', memoryMb: 1.5 }, 'memoryMb', ''],
    [{ command: 'x', labels: { a: 1 } }, 'labels.a', 'string'],
    [{ command: 'x', inner: { port: 0 } }, 'inner.port', '1'],
    [{ command: 'x', list: [{ port: 1 }, { port: 'y' }] }, 'list.1.port', 'whole number'],
    [{ command: 'x', at: 'yesterday' }, 'at', 'RFC 3339'],
    [{ command: 'x', comand: 'y' }, 'comand', 'did you mean command?'],
    [{ command: 'x', inner: { prot: 1 } }, 'inner.prot', 'no such field'],
    ['text', 'body', 'object'],
    [[], 'body', 'object'],
  ])('%j: %s', (value, field, words) => {
    const found = violations(value);
    expect(Object.keys(found)).toContain(field);
    expect(found[field]).toContain(words);
  });
});

describe('what clients send in practice is taken', () => {
  test.each<[string, unknown, unknown]>([
    [
      'snake_case for camelCase',
      { command: 'x', network_block_all: true },
      { command: 'x', networkBlockAll: true },
    ],
    ['camelCase for snake_case', { command: 'x', extraSeconds: 5 }, { command: 'x', extra_seconds: 5 }],
    ['a number for a 64-bit integer', { command: 'x', memoryMb: 512 }, { command: 'x', memoryMb: '512' }],
    ['null for absent', { command: 'x', labels: null }, { command: 'x' }],
    [
      'keys of a map as they are',
      { command: 'x', labels: { snake_case: 'v' } },
      { command: 'x', labels: { snake_case: 'v' } },
    ],
  ])('%s', (_, value, expected) => {
    expect(body.check(value)).toEqual(expected);
  });
});

test('a query is read from text and ignores what it does not know', () => {
  const State = enumeration('State', ['STATE_UNSPECIFIED', 'STATE_READY']);
  const short = validator(model('Short', { state: State }), 'native');
  expect(short.check({ state: 'ready' })).toEqual({ state: 'STATE_READY' });
  expect(violations({ state: 'gone' }, short).state).toContain('STATE_READY');
  const Query = model('Query', { limit: int32(), enabled: t.Boolean(), path: t.Array(t.String()) });
  const query = validator(Query, 'query');
  expect(query.check({ limit: '10', enabled: 'true', path: '/a', other: 'x' })).toEqual({
    limit: 10,
    enabled: true,
    path: ['/a'],
  });
  expect(violations({ limit: 'ten' }, query)).toHaveProperty('limit', 'must be a whole number');
});

test('a compat body passes with fields that the contract does not know', () => {
  const chat = validator(t.Object({ model: t.String() }), 'compat');
  expect(chat.check({ model: 'm', novel_field: 1 })).toEqual({ model: 'm', novel_field: 1 });
  expect(violations({ model: 1 }, chat)).toHaveProperty('model', 'must be string');
  const either = validator(t.Object({ n: t.Union([t.Integer(), t.Null()]) }), 'compat');
  expect(violations({ n: 'x' }, either)).toHaveProperty('n', 'has none of the forms that it may have');
});
