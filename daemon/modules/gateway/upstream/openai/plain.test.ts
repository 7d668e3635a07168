import { expect, test } from 'bun:test';
import type { ChatRequest } from '../../wire/chat.ts';
import { plainRequest } from './plain.ts';

const openai = { name: 'openai', dialect: 'openai' } as const;
const request = {
  model: 'm',
  messages: [
    { role: 'system', content: [{ type: 'text', text: 'be brief', cache_control: { type: 'ephemeral' } }] },
    { role: 'user', content: 'hello' },
    { role: 'assistant', content: 'hi', reasoning_content: 'hm', provider_content: [{ signature: 's' }] },
  ],
  own_field: 1,
} as unknown as ChatRequest;

test('a first member of the family gets nothing of another dialect', () => {
  expect(plainRequest(request, openai)).toEqual({
    model: 'm',
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'be brief' }] },
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: 'hi' },
    ],
    own_field: 1,
  } as unknown as ChatRequest);
});

test('others get what they may know, and no signatures that are not theirs', () => {
  const [, , answer] = plainRequest(request, { name: 'groq', dialect: 'openai' }).messages;
  expect(answer).toEqual({ role: 'assistant', content: 'hi', reasoning_content: 'hm' } as never);
  expect(plainRequest(request, { name: 'openrouter', dialect: 'openai' })).toBe(request);
});

test('a request without such fields is the same object', () => {
  const plain = { ...request, messages: [{ role: 'user', content: 'hello' }] } as ChatRequest;
  expect(plainRequest(plain, openai)).toBe(plain);
});
