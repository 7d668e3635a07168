import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { AppError } from '../../../../src/errors/app-error.ts';
import type { ChatRequest, Usage } from '../provider.ts';
import { createEchoProvider } from './provider.ts';
import { wordsOf } from './words.ts';

const provider = createEchoProvider({ now: () => 1_700_000_000_000 });

async function ask(request: Partial<ChatRequest>): Promise<{ response: Response; used: Usage[] }> {
  const used: Usage[] = [];
  const context = { signal: new AbortController().signal, used: (usage: Usage) => used.push(usage) };
  const full = { model: 'echo', messages: [{ role: 'user', content: 'one two' }], ...request } as ChatRequest;
  return { response: await provider.complete(full, context), used };
}

async function answer(request: Partial<ChatRequest>) {
  return (await (await ask(request)).response.json()) as {
    model: string;
    object: string;
    created: number;
    choices: [{ message: { role: string; content: string }; finish_reason: string }];
    usage: object;
  };
}

async function events(request: Partial<ChatRequest>) {
  const text = await (await ask({ stream: true, ...request })).response.text();
  expect(text.endsWith('\n\n')).toBe(true);
  return text
    .slice(0, -2)
    .split('\n\n')
    .map((event) => event.replace(/^data: /, ''));
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
  expect(body.created).toBe(1_700_000_000);
  expect(body.choices[0].message).toMatchObject({ role: 'assistant', content: 'and  now\nthis' });
  expect(body.choices[0].finish_reason).toBe('stop');
  expect(body.usage).toEqual({ prompt_tokens: 8, completion_tokens: 3, total_tokens: 11 });
});

test('says nothing when the user said nothing', async () => {
  const body = await answer({ messages: [{ role: 'system', content: 'be brief' }] });
  expect(body.choices[0].message.content).toBe('');
  expect(body.choices[0].finish_reason).toBe('stop');
});

for (const field of ['max_tokens', 'max_completion_tokens'] as const)
  test(`stops after ${field} words`, async () => {
    const body = await answer({ messages: [{ role: 'user', content: ' a b c' }], [field]: 2 });
    expect(body.choices[0].message.content).toBe(' a b ');
    expect(body.choices[0].finish_reason).toBe('length');
    expect(body.usage).toEqual({ prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 });
  });

describe('the stream', () => {
  test('has the role first, a word an event, the reason at its end, then [DONE]', async () => {
    const list = await events({ messages: [{ role: 'user', content: 'one two three' }] });
    expect(list.at(-1)).toBe('[DONE]');
    const chunks = list.slice(0, -1).map((text) => JSON.parse(text));
    expect(chunks.map(({ choices }) => choices[0].delta)).toEqual([
      { role: 'assistant', content: '' },
      { content: 'one ' },
      { content: 'two ' },
      { content: 'three' },
      {},
    ]);
    expect(chunks.map(({ choices }) => choices[0].finish_reason)).toEqual([null, null, null, null, 'stop']);
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    for (const chunk of chunks) {
      expect(chunk).toMatchObject({ object: 'chat.completion.chunk', model: 'local/echo' });
      expect(chunk).not.toHaveProperty('usage');
    }
  });

  test('reports usage in an event of its own, when asked to', async () => {
    const list = await events({ stream_options: { include_usage: true } });
    const chunks = list.slice(0, -1).map((text) => JSON.parse(text));
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 2, completion_tokens: 2, total_tokens: 4 },
    });
    for (const chunk of chunks.slice(0, -1)) expect(chunk.usage).toBeNull();
  });

  test('is made as it is read, and counts only when it was read to the end', async () => {
    const { response, used } = await ask({ stream: true });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const reader = response.body?.getReader();
    await reader?.read();
    expect(used).toEqual([]);
    await reader?.cancel();
    expect(used).toEqual([]);
    const second = await ask({ stream: true });
    await second.response.text();
    expect(second.used).toEqual([{ input: 2, output: 2 }]);
  });
});

test('gives one answer, not several', async () => {
  const error = await ask({ n: 2 }).catch((thrown: unknown) => thrown);
  expect((error as AppError).violations[0]?.field).toBe('n');
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
