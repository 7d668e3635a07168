import { expect, test } from 'bun:test';
import { readQuery } from './query.ts';

test.each<[string, Record<string, unknown>]>([
  ['http://h/p', {}],
  ['http://h/p?a=1&b=', { a: '1', b: '' }],
  ['http://h/p?a=1&a=2&a=3', { a: ['1', '2', '3'] }],
  ['http://h/p?a[]=1', { a: ['1'] }],
  ['http://h/p?m[x]=1&m[y]=2', { m: { x: '1', y: '2' } }],
  ['http://h/p?q=%C3%A9+%26', { q: 'é &' }],
  ['http://h/p?__proto__[x]=1', { ['__proto__']: { x: '1' } }],
])('%s', (url, expected) => {
  expect(Object.entries(readQuery(url))).toEqual(Object.entries(expected));
});
