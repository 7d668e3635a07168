import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { usageInText } from './chat-usage.ts';
import { UsageFilter } from './usage-filter.ts';

const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
const word = (content: string) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }], usage: null })}\n\n`;
const last = `data: ${JSON.stringify({ choices: [], usage })}\n\n`;
const done = 'data: [DONE]\n\n';

function pass(filter: UsageFilter, ...pieces: string[]): string {
  const passed = pieces.flatMap((piece) => filter.passing(new TextEncoder().encode(piece)) ?? []);
  return Buffer.concat(passed).toString();
}

test('takes out the event that only has usage, when nobody asked for it', () => {
  const filter = new UsageFilter(false);
  expect(pass(filter, word('a'), word('b'), last, done)).toBe(word('a') + word('b') + done);
  expect(filter).toMatchObject({ usage: { input: 3, output: 4 }, isComplete: true });
});

test('takes it out of a piece with others, and however it is written', () => {
  const filter = new UsageFilter(false);
  const spaced = 'data: {"choices": [ ], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}\r\n\r\n';
  const passed = pass(filter, word('a') + spaced + done);
  expect(passed).toStartWith(word('a'));
  expect(passed).toEndWith(done);
  expect(passed).not.toContain('prompt_tokens');
  expect(filter.usage).toEqual({ input: 3, output: 4 });
});

test('leaves it to those who asked, and where it comes with a choice', () => {
  expect(pass(new UsageFilter(true), word('a'), last, done)).toBe(word('a') + last + done);
  const both = `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage })}\n\n`;
  const filter = new UsageFilter(false);
  expect(pass(filter, both)).toBe(both);
  expect(filter.usage).toEqual({ input: 3, output: 4 });
});

test('passes what says nothing of usage untouched, whatever it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      fc.pre(!/"usage":\s*\{/.test(text));
      const bytes = new TextEncoder().encode(text);
      expect(new UsageFilter(false).passing(bytes)).toBe(bytes);
    }),
  );
});

test('a text of the answer that looks like usage is no usage', () => {
  const filter = new UsageFilter(false);
  const tricky = word('"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}');
  expect(pass(filter, tricky)).toBe(tricky);
  expect(filter.usage).toBeUndefined();
});

test('usage has what is cached and reasoned, and is absent where none was reported', () => {
  const details = {
    ...usage,
    prompt_tokens_details: { cached_tokens: 2 },
    completion_tokens_details: { reasoning_tokens: 1 },
  };
  expect(usageInText(JSON.stringify({ usage: details }))).toEqual({
    input: 3,
    output: 4,
    cachedInput: 2,
    reasoning: 1,
  });
  for (const text of [
    '',
    'null',
    '[]',
    '{}',
    '{"usage":null}',
    '{"usage":{"prompt_tokens":"3"}}',
    '{"usage":',
  ])
    expect(usageInText(text)).toBeUndefined();
});
