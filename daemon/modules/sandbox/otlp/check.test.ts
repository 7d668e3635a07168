import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { urlOf } from '../../../otlp/sender.ts';
import { checkEndpoint, checkHeaders, checkLabels } from './check.ts';

const text = fc.oneof(fc.string({ maxLength: 20 }), fc.string({ unit: 'binary', maxLength: 20 }));
const map = fc.dictionary(text, text, { maxKeys: 4 });

test('headers that pass can be sent as they are, and change nothing of the message', () => {
  fc.assert(
    fc.property(map, (headers) => {
      if ([...checkHeaders(headers)].length > 0) return;
      const sent = new Headers(headers);
      for (const [name, value] of Object.entries(headers)) expect(sent.get(name)).toBe(value);
      for (const name of ['host', 'content-type', 'content-length', 'transfer-encoding', 'connection'])
        expect(sent.has(name)).toBe(false);
    }),
    { numRuns: 2_000 },
  );
});

test('an endpoint that passes leads to its own host, and the paths of the signals are added to its own', () => {
  const urls = fc.oneof(text, fc.webUrl({ withQueryParameters: true, withFragments: true }));
  fc.assert(
    fc.property(urls, (endpoint) => {
      if (endpoint === '' || [...checkEndpoint(endpoint)].length > 0) return;
      const [base, sent] = [new URL(endpoint), new URL(urlOf(endpoint, 'metrics'))];
      expect(sent.origin).toBe(base.origin);
      expect([sent.username, sent.password, sent.search, sent.hash]).toEqual(['', '', '', '']);
      expect(sent.pathname).toBe(`${base.pathname.replace(/\/+$/, '')}/v1/metrics`);
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  ['service.name', true],
  ['deployment.environment.name', true],
  ['team/web', true],
  ['svc.sandbox.id', false],
  ['container.id', false],
  ['service.instance.id', false],
  ['1st', false],
  ['a b', false],
  ['', false],
])('the label %p may be given: %p', (name, allowed) => {
  expect([...checkLabels({ [name]: 'x' })].length === 0).toBe(allowed);
});
