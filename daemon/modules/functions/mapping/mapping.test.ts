import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { AppError } from '../../../../src/errors/app-error.ts';
import { evaluate, isConstant, parseExpression } from './expression.ts';
import { assemble, parsePlace } from './place.ts';
import { fillUrlPath, parseUrlPath } from './url-path.ts';

const ARGS = {
  city: 'oslo',
  n: 3,
  user: { name: 'Ada', 'first name': "A'da", tags: ['x', 'y'] },
  rows: [{ id: 1 }, { id: 2 }, {}],
  none: null,
};

const value = (text: string) => {
  const read = parseExpression(text);
  if (typeof read === 'string') throw new Error(read);
  return evaluate(read, ARGS);
};

describe('an expression', () => {
  test.each<[string, unknown]>([
    ['$', ARGS],
    ['$.n', 3],
    ['$.user.name', 'Ada'],
    ["$.user['first name']", "A'da"],
    ['$.user.tags[0]', 'x'],
    ['$.user.tags[-1]', 'y'],
    ['$.rows[*].id', [1, 2]],
    ['$.missing.too', undefined],
    ['$.none', null],
    ['$.toString', undefined],
    ['$.__proto__.polluted', undefined],
    ['{n}', 3],
    ['Bearer {city}-{n}', 'Bearer oslo-3'],
    ['{user.tags}!', '["x","y"]!'],
    ['{{city}}', '{city}'],
    ['{missing} x', undefined],
    ['{none} x', undefined],
    ['metric', 'metric'],
    ['$5 off', '$5 off'],
    ['', ''],
  ])('%s', (text, wanted) => expect(value(text)).toEqual(wanted as never));

  test.each(['$.', '$.a b', '$[x]', '$..a', '{', 'a}', '{}', '{a b}', "$['a]", `$${'.a'.repeat(33)}`])(
    '%s is none',
    (text) => expect(parseExpression(text)).toBeString(),
  );

  test('reads any text or says why not, and is constant only without names', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const read = parseExpression(text);
        if (typeof read === 'string') return;
        if (isConstant(read)) expect(evaluate(read, {})).toEqual(evaluate(read, ARGS));
      }),
    );
  });

  test('any text comes back when its braces are doubled', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(!text.startsWith('$'));
        expect(value(text.replaceAll('{', '{{').replaceAll('}', '}}'))).toBe(text);
      }),
    );
  });
});

describe('a path of a URL', () => {
  const path = (text: string) => {
    const read = parseUrlPath(text);
    if (typeof read === 'string') throw new Error(read);
    return read;
  };

  test.each(['users', '/a?b', '/a#b', '/../a', '/%2e%2E/a', '/a b', '/a\\b', '/{', '/./a'])(
    '%s is none',
    (text) => expect(parseUrlPath(text)).toBeString(),
  );

  test('an argument stays in its segment, whatever it is', () => {
    const template = path('/v1/users/{id}/posts/{user.name}.json');
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom(
        '..',
        '.',
        '../..',
        '/',
        '%2e%2e',
        '%2F',
        '?a=b',
        '#',
        '\\',
        '@evil.test',
        '//x',
        '\u0000',
      ),
    );
    fc.assert(
      fc.property(text, text, (id, name) => {
        let filled: string;
        try {
          filled = fillUrlPath(template, { id, user: { name } });
        } catch (error) {
          expect(error).toBeInstanceOf(AppError);
          return;
        }
        const url = new URL(`https://api.example.com${filled}`);
        expect(url.host).toBe('api.example.com');
        expect(url.search + url.hash).toBe('');
        const parts = url.pathname.split('/');
        expect(parts.slice(0, 3)).toEqual(['', 'v1', 'users']);
        expect(parts.slice(4, 5)).toEqual(['posts']);
        expect(parts).toHaveLength(6);
        expect(decodeURIComponent(parts[3] ?? '')).toBe(id);
      }),
      { numRuns: 2000 },
    );
  });

  test('one that is missing is named', () => {
    expect(() => fillUrlPath(path('/a/{user.id}'), ARGS)).toThrow('arguments.user.id');
    expect([...path('/a/{user.id}/{city}').used]).toEqual(['user', 'city']);
  });
});

describe('values go to their places', () => {
  test('nested, and the shorter place first', () => {
    expect(
      assemble([
        [['a', 'b'], 1],
        [['a', 'c', 'd'], 2],
        [['e'], { f: 1 }],
        [['e', 'f'], 3],
      ]),
    ).toEqual({ a: { b: 1, c: { d: 2 } }, e: { f: 1 } });
  });

  test('never into what objects have of themselves', () => {
    for (const text of ['__proto__.a', 'a.constructor.b', 'prototype', 'a..b', ''])
      expect(parsePlace(text)).toBeString();
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), fc.jsonValue())), (entries) => {
        const read = entries.flatMap(([text, one]) => {
          const place = parsePlace(text);
          return typeof place === 'string' ? [] : [[place, one] as const];
        });
        assemble(read);
        expect(Object.keys(Object.prototype)).toEqual([]);
      }),
    );
  });
});
