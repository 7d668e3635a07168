import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { UpstreamError } from '../../../upstream/error.ts';
import type { ChatMessage } from '../../../wire/chat.ts';
import { isTooLong, laterHalf } from './shorten.ts';

const message = fc.constantFrom<ChatMessage>(
  { role: 'system', content: 's' },
  { role: 'user', content: 'u' },
  { role: 'assistant', content: 'a' },
  { role: 'tool', tool_call_id: 'c', content: 't' },
);

test('half of a conversation keeps its instructions and its end, begins with a user, and gets shorter', () => {
  fc.assert(
    fc.property(fc.array(message, { maxLength: 40 }), (messages) => {
      const half = laterHalf(messages);
      if (!half) return;
      const spoken = half.filter(({ role }) => role !== 'system');
      expect(spoken[0]?.role).toBe('user');
      expect(half.length).toBeLessThan(messages.length);
      expect(half.length - spoken.length).toBe(messages.filter(({ role }) => role === 'system').length);
      const end = messages.filter(({ role }) => role !== 'system').slice(-spoken.length);
      expect(spoken).toEqual(end);
    }),
  );
});

test('a conversation of one question cannot be shortened', () => {
  expect(
    laterHalf([
      { role: 'system', content: 's' },
      { role: 'user', content: 'u' },
    ]),
  ).toBeUndefined();
});

test.each([
  [new UpstreamError('request', 'no', { status: 400, code: 'context_length_exceeded' }), true],
  [new UpstreamError('request', 'prompt is too long: 9 tokens > 8 maximum', { status: 400 }), true],
  [new UpstreamError('request', 'temperature is too hot', { status: 400 }), false],
  [new UpstreamError('server', 'context length', { status: 500 }), false],
])('%s', (error, expected) => {
  expect(isTooLong(error)).toBe(expected);
});
