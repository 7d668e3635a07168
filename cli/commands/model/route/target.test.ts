import { expect, test } from 'bun:test';
import { readTarget } from './target.ts';

test.each([
  ['openai/gpt-4o', { provider: 'openai', model: 'gpt-4o' }],
  ['groq/llama-3.3-70b=3', { provider: 'groq', model: 'llama-3.3-70b', weight: 3 }],
  ['openrouter/meta/llama:free', { provider: 'openrouter', model: 'meta/llama:free' }],
])('%s', (text, expected) => expect(readTarget(text)).toEqual(expected));

test.each(['gpt-4o', '/m', 'p/', 'p/m=', 'p/m=x', 'p /m', ''])('%j is refused', (text) =>
  expect(() => readTarget(text)).toThrow('PROVIDER/MODEL'),
);
