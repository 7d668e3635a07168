import { expect, test } from 'bun:test';
import { pauseOf, urlOf } from './sender.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');

test.each([
  [null, undefined],
  ['', undefined],
  ['7', 7_000],
  ['0', 0],
  ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
  ['Wed, 31 Dec 2025 23:59:00 GMT', 0],
  ['999999', 300_000],
  ['soon', undefined],
])('Retry-After %p is a pause of %p ms', (header, expected) => {
  expect(pauseOf(header, NOW)).toBe(expected);
});

test.each([
  ['https://otlp.example.com', 'https://otlp.example.com/v1/traces'],
  ['https://otlp.example.com/', 'https://otlp.example.com/v1/traces'],
  ['http://otlp.example.com:4318/a/b//', 'http://otlp.example.com:4318/a/b/v1/traces'],
])('spans for %s go to %s', (endpoint, url) => {
  expect(urlOf(endpoint, 'traces')).toBe(url);
});
