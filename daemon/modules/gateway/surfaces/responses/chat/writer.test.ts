import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { ResponseStream } from 'openai/lib/responses/ResponseStream';
import type { ChatChunk } from '../../../wire/chat.ts';
import { unfinished } from '../native/partial.ts';
import { newResponse } from '../new-response.ts';
import { type Item, isEnd, type ResponseEvent } from '../wire.ts';
import { chunkOf } from './completion.ts';
import { openContent } from './sealed.ts';
import { ResponseWriter } from './writer.ts';

type Choice = ChatChunk['choices'][number];

const base = newResponse('resp_1', 1_700_000_000_000, { model: 'm', input: 'x' }, 'in_progress');
const chunk = (
  delta: object,
  finish_reason: string | null = null,
  more: Partial<ChatChunk> = {},
): ChatChunk => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm-1',
  choices: [{ index: 0, delta: delta as Choice['delta'], finish_reason }],
  ...more,
});

/** Each event as a reader gets it: as text that nothing can change any more. */
function write(chunks: readonly ChatChunk[]) {
  const writer = new ResponseWriter(base, () => 1_700_000_005_000);
  const texts: string[] = [];
  const note = (events: readonly ResponseEvent[]) =>
    texts.push(...events.map((event) => JSON.stringify(event)));
  note(writer.begin('m-1'));
  for (const one of chunks) note(writer.take(one));
  const { events, response } = writer.end();
  note(events);
  return { events: texts.map((text) => JSON.parse(text) as ResponseEvent), response };
}

const word = fc.string({ minLength: 1, maxLength: 6 });
const delta: fc.Arbitrary<object> = fc.oneof(
  word.map((content) => ({ content })),
  word.map((refusal) => ({ refusal })),
  word.map((reasoning_content) => ({ reasoning_content })),
  fc.array(fc.integer(), { minLength: 1, maxLength: 2 }).map((provider_content) => ({ provider_content })),
  fc
    .record({ title: word })
    .map((url_citation) => ({ annotations: [{ type: 'url_citation', url_citation }] })),
  fc.constant({ images: [{ image_url: { url: 'data:image/png;base64,AAAA' } }] }),
  fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), word), { minLength: 1, maxLength: 3 }).map((calls) => ({
    tool_calls: calls.map(([index, given]) => ({
      index,
      id: `call_${index}`,
      type: 'function',
      function: { name: '', arguments: given },
    })),
  })),
  fc.record({ content: word, reasoning_content: word }),
  fc.constant({}),
);
const REASONS = ['stop', 'length', 'content_filter', 'tool_calls'];
const stream = fc
  .tuple(fc.array(delta, { maxLength: 30 }), fc.constantFrom(...REASONS))
  .map(([deltas, reason]) => [...deltas.map((one) => chunk(one)), chunk({}, reason)]);

/** What is left of an item when everything in its text and arguments was put together from deltas alone. */
function accumulated(events: readonly ResponseEvent[]): Item[] {
  return unfinished(events.filter(({ type }) => type !== 'response.output_item.done'));
}

const said = (items: readonly Item[]) =>
  items.map(({ type, content, summary, arguments: given }) => [
    type,
    (Array.isArray(content) ? content : []).map((part: Record<string, unknown>) => part.text ?? part.refusal),
    (summary ?? []).map((part) => part.text),
    given,
  ]);

describe('the events of any stream', () => {
  test('add up to the response: by their deltas, by their items, and for the stock client', async () => {
    await fc.assert(
      fc.asyncProperty(stream, async (chunks) => {
        const { events, response } = write(chunks);
        expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, i) => i));
        expect(events.map(({ type }) => isEnd(type))).toEqual(events.map((_, i) => i === events.length - 1));
        const done = events.filter(({ type }) => type === 'response.output_item.done');
        const byIndex = done.toSorted((a, b) => Number(a.output_index) - Number(b.output_index));
        expect(byIndex.map(({ item }) => item)).toEqual(response.output);
        expect(said(accumulated(events))).toEqual(said(response.output));
        const lines = events.map((event) => `${JSON.stringify(event)}\n`).join('');
        const reader = ResponseStream.fromReadableStream(new Blob([lines]).stream());
        const final = JSON.parse(JSON.stringify(await reader.finalResponse()));
        expect(final).toMatchObject(JSON.parse(JSON.stringify(response)));
      }),
      { numRuns: 300 },
    );
  });

  test('say in each part where they stand: added before anything else, done after it', () => {
    fc.assert(
      fc.property(stream, (chunks) => {
        const open = new Map<unknown, 'open' | 'done'>();
        for (const { type, output_index } of write(chunks).events) {
          if (output_index === undefined) continue;
          if (type === 'response.output_item.added') {
            expect(output_index).toBe(open.size);
            open.set(output_index, 'open');
          } else expect(open.get(output_index)).toBe('open');
          if (type === 'response.output_item.done') open.set(output_index, 'done');
        }
        expect([...open.values()].every((state) => state === 'done')).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test('are the same in content when the completion came whole', () => {
    const message = {
      role: 'assistant' as const,
      content: 'four three',
      reasoning_content: 'hm',
      tool_calls: [{ id: 'call_a', type: 'function', function: { name: 'f', arguments: '{}' } }],
    };
    const choices = [{ index: 0, message, finish_reason: 'tool_calls' }];
    const whole = chunkOf({ id: 'c', object: 'chat.completion', created: 1, model: 'm-1', choices });
    const pieces = [
      chunk({ reasoning_content: 'hm' }),
      chunk({ content: 'four ' }),
      chunk({ content: 'three' }),
      chunk({
        tool_calls: [{ index: 0, id: 'call_a', type: 'function', function: { name: 'f', arguments: '' } }],
      }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{}' } }] }),
      chunk({}, 'tool_calls'),
    ];
    expect(said(write([whole]).response.output)).toEqual(said(write(pieces).response.output));
  });
});

describe('a response', () => {
  test.each([
    ['stop', 'completed', null],
    ['tool_calls', 'completed', null],
    ['length', 'incomplete', { reason: 'max_output_tokens' }],
    ['content_filter', 'incomplete', { reason: 'content_filter' }],
  ])('of an answer that ended with %s is %s', (reason, status, incomplete_details) => {
    const { response } = write([chunk({ content: 'a' }), chunk({}, reason)]);
    expect(response).toMatchObject({ status, incomplete_details });
    expect(response.output[0]?.status).toBe(status);
  });

  test('reports cached and reasoning tokens', () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 4,
      total_tokens: 14,
      prompt_tokens_details: { cached_tokens: 6 },
      completion_tokens_details: { reasoning_tokens: 3 },
    };
    const { response } = write([chunk({ content: 'a' }, 'stop'), chunk({}, null, { choices: [], usage })]);
    expect(response.usage).toEqual({
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 6 },
      output_tokens: 4,
      output_tokens_details: { reasoning_tokens: 3 },
      total_tokens: 14,
    });
  });

  test('keeps what a provider wants back, in its order', () => {
    const { response } = write([
      chunk({ reasoning_content: 'hm' }),
      chunk({ provider_content: [{ signature: 'a' }] }),
      chunk({ content: 'b' }),
      chunk({ provider_content: [{ signature: 'c' }] }, 'stop'),
    ]);
    const kept = (response.output as Item[]).flatMap((item) => openContent(item.encrypted_content) ?? []);
    expect(kept).toEqual([{ signature: 'a' }, { signature: 'c' }]);
  });

  test('of an answer that nobody ended is an error', () => {
    expect(() => write([chunk({ content: 'a' })])).toThrow('closed the connection');
  });

  test('that is cut keeps what was said', () => {
    const writer = new ResponseWriter(base, () => 0);
    writer.begin('m-1');
    writer.take(chunk({ content: 'half a w' }));
    const { events, response } = writer.cut({ status: 'cancelled' });
    expect(events.map(({ type }) => type)).toEqual(['response.incomplete']);
    expect(response).toMatchObject({
      status: 'cancelled',
      output: [{ content: [{ text: 'half a w' }], status: 'incomplete' }],
    });
  });
});
