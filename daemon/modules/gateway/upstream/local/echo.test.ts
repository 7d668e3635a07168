import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { ChatChunk, ChatCompletion, ChatRequest } from '../../wire/chat.ts';
import type { StreamedChat, Upstream, WholeChat } from '../adapter.ts';
import { localAdapter } from './adapter.ts';
import { wordsOf } from './words.ts';

const upstream = {} as Upstream;

async function ask(request: Partial<ChatRequest>): Promise<WholeChat | StreamedChat> {
  const full = { model: 'echo', messages: [{ role: 'user', content: 'one two' }], ...request } as ChatRequest;
  const answered = await localAdapter.chat?.(full, upstream);
  if (!answered) throw new Error('no chat');
  return answered;
}

async function answer(request: Partial<ChatRequest>): Promise<ChatCompletion> {
  const answered = await ask(request);
  if (answered.kind !== 'whole') throw new Error('a stream');
  return answered.completion;
}

async function chunksOf(request: Partial<ChatRequest>): Promise<ChatChunk[]> {
  const answered = await ask({ stream: true, ...request });
  if (answered.kind !== 'stream') throw new Error('no stream');
  return Array.fromAsync(answered.chunks);
}

test('repeats the last message of the user, and counts words as tokens', async () => {
  const body = await answer({
    messages: [
      { role: 'system', content: 'be brief' },
      { role: 'user', content: 'first' },
      { role: 'assistant', content: 'an answer' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'and  now\n' },
          { type: 'image_url' },
          { type: 'text', text: 'this' },
        ],
      },
    ],
  });
  expect(body.object).toBe('chat.completion');
  expect(body.model).toBe('local/echo');
  expect(body.choices[0]?.message).toMatchObject({ role: 'assistant', content: 'and  now\nthis' });
  expect(body.choices[0]?.finish_reason).toBe('stop');
  expect(body.usage).toEqual({ prompt_tokens: 8, completion_tokens: 3, total_tokens: 11 });
});

test('says nothing when the user said nothing', async () => {
  const body = await answer({ messages: [{ role: 'system', content: 'be brief' }] });
  expect(body.choices[0]?.message.content).toBe('');
  expect(body.choices[0]?.finish_reason).toBe('stop');
});

for (const field of ['max_tokens', 'max_completion_tokens'] as const)
  test(`stops after ${field} words`, async () => {
    const body = await answer({ messages: [{ role: 'user', content: ' a b c' }], [field]: 2 });
    expect(body.choices[0]?.message.content).toBe(' a b ');
    expect(body.choices[0]?.finish_reason).toBe('length');
    expect(body.usage).toEqual({ prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 });
  });

test('streams the role first, a word an event, the reason, and last the usage', async () => {
  const chunks = await chunksOf({ messages: [{ role: 'user', content: 'one two three' }] });
  expect(chunks.map(({ choices }) => choices[0]?.delta)).toEqual([
    { role: 'assistant', content: '' },
    { content: 'one ' },
    { content: 'two ' },
    { content: 'three' },
    {},
    undefined,
  ]);
  expect(chunks.map(({ choices }) => choices[0]?.finish_reason)).toEqual([
    null,
    null,
    null,
    null,
    'stop',
    undefined,
  ]);
  expect(chunks.at(-1)?.usage).toEqual({ prompt_tokens: 3, completion_tokens: 3, total_tokens: 6 });
  expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  for (const chunk of chunks)
    expect(chunk).toMatchObject({ object: 'chat.completion.chunk', model: 'local/echo' });
});

test('gives one answer, not several', async () => {
  const error = await ask({ n: 2 }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ kind: 'request', details: { param: 'n' } });
});

test('words joined again are the text, and each but a leading blank has a word', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', 'é', ' ', '\n', '\t', '🙂') }), (text) => {
      const words = wordsOf(text);
      expect(words.join('')).toBe(text);
      expect(words.slice(1).every((word) => /^\S/.test(word))).toBe(true);
    }),
    { numRuns: 2000 },
  );
});
