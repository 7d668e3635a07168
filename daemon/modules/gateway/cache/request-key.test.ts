import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { ModelCall } from '../pipeline/call.ts';
import { canonical, requestKey } from './request-key.ts';

const callOf = (request: object, { tenant = 'org_a', surface = 'chat', headers = {} } = {}) =>
  ({ caller: { tenant }, surface, headers: new Headers(headers), request }) as unknown as ModelCall;
const key = (request: object, more = {}, scope: string[] = []) => requestKey(callOf(request, more), scope);

const request = {
  model: 'a',
  messages: [{ role: 'user', content: 'b' }],
  temperature: 0.5,
  tools: [{ z: 1, y: 2 }],
};

/** The same value with the keys of its objects the other way round. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, inner]) => [name, turned(inner)]),
  );
}

const fields = fc.dictionary(
  fc.string().filter((name) => name !== '__proto__'),
  fc.jsonValue({ maxDepth: 3 }),
);

test('equal requests have one key, whatever the order of their fields', () => {
  fc.assert(
    fc.property(fields, (value) => {
      expect(key(turned(value) as object)).toEqual(key(value));
    }),
    { numRuns: 500 },
  );
});

test('different values have different texts', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
      expect(canonical(one) === canonical(other)).toBe(Bun.deepEquals(plain(one), plain(other), true));
    }),
    { numRuns: 1000 },
  );
});

/** JSON has no -0. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

test('any field that changes changes the key', () => {
  const without = new Set(['stream', 'stream_options', 'user', 'metadata', 'safety_identifier']);
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.jsonValue(), (name, value) => {
      fc.pre(!without.has(name) && !name.startsWith('prompt_cache') && name !== '__proto__');
      fc.pre(!Bun.deepEquals((request as Record<string, unknown>)[name], plain(value)));
      expect(key({ ...request, [name]: value })).not.toEqual(key(request));
    }),
    { numRuns: 500 },
  );
});

test.each([
  ['another order of messages', { messages: [1, 2] }, { messages: [2, 1] }],
  ['a number and its text', { n: 1 }, { n: '1' }],
  ['null and nothing', { stop: null }, {}],
])('%s is another request', (_, one, other) => {
  expect(key({ ...request, ...one })).not.toEqual(key({ ...request, ...other }));
});

test('who asks and how an answer travels do not matter, but for responses, which repeat their request', () => {
  const asked = { ...request, user: 'ada', metadata: { a: '1' }, stream: false };
  expect(key(asked)).toEqual(key(request));
  const responses = { surface: 'responses' };
  expect(key(asked, responses)).not.toEqual(key(request, responses));
});

test('tenant, surface, scope and headers with an effect are parts of it', () => {
  const keys = [
    key(request),
    key(request, { tenant: 'org_b' }),
    key(request, { surface: 'messages' }),
    key(request, {}, ['policy']),
    key(request, { headers: { 'x-svc-fallback': 'groq/llama' } }),
    key(request, { headers: { 'anthropic-beta': 'tools' } }),
  ].map(({ proof }) => proof);
  expect(new Set(keys).size).toBe(keys.length);
});
