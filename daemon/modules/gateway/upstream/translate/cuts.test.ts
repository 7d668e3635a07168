import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { frame } from '../../../../../test/support/aws-event-stream.ts';
import type { ChatChunk } from '../../wire/chat.ts';
import { Frames } from '../bedrock/frames.ts';
import { ConverseReader } from '../bedrock/reader.ts';
import { overFrames } from '../bedrock/stream.ts';
import type { AnswerBlock } from '../bedrock/wire.ts';
import { CohereReader } from '../cohere/reader.ts';
import { UpstreamError } from '../error.ts';
import { GeminiReader } from '../gemini/reader.ts';
import type { GeminiPart } from '../gemini/wire.ts';
import { parseJson } from './answer.ts';
import { completionOf } from './chunks.ts';
import { EventData } from './sse.ts';
import { type ChunkSource, overEvents } from './stream.ts';

/** Bytes cut after every so many, over and over. */
function pieces(bytes: Uint8Array, steps: readonly number[]): Uint8Array[] {
  const cut: Uint8Array[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const step = steps[turn % steps.length] ?? 1;
    cut.push(bytes.slice(at, at + step));
    at += step;
  }
  return cut;
}

function read(source: ChunkSource, bytes: Uint8Array, steps: readonly number[]) {
  const chunks: ChatChunk[] = [];
  for (const piece of pieces(bytes, steps)) source.take(piece, chunks);
  source.end(chunks);
  return { ...completionOf(chunks), id: '', created: 0 };
}

const steps = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 });
const text = fc.string({
  unit: fc.constantFrom('a', 'é', '\n', '"', '🙂', '\\', ' ', '\r'),
  minLength: 1,
  maxLength: 12,
});
const sse = (events: readonly unknown[]) =>
  Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
const json = (value: string) => parseJson(value, 'x');
const args = fc.dictionary(fc.constantFrom('a', 'b'), fc.oneof(text, fc.integer()), { maxKeys: 2 });

test('events are the same however their bytes are cut', () => {
  const line = fc.string({ unit: fc.constantFrom('a', 'ü', ' ', ':', '🙂'), maxLength: 10 });
  const event = fc.array(line, { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(
      fc.array(event, { maxLength: 6 }),
      steps,
      fc.constantFrom('\n', '\r\n'),
      (events, cut, end) => {
        const lines = events.map(
          (data) => `event: x${end}: note${end}${data.map((one) => `data: ${one}${end}`).join('')}${end}`,
        );
        const reader = new EventData();
        const found = pieces(Buffer.from(lines.join('')), cut).flatMap((piece) => reader.take(piece));
        expect([...found, ...reader.end()]).toEqual(events.map((data) => data.join('\n')));
      },
    ),
    { numRuns: 500 },
  );
});

test('frames are the same however their bytes are cut, and no flipped bit passes', () => {
  const payload = fc.record({ text });
  fc.assert(
    fc.property(
      fc.array(payload, { minLength: 1, maxLength: 5 }),
      steps,
      fc.nat(),
      (payloads, cut, where) => {
        const bytes = Buffer.concat(payloads.map((one) => frame({ ':event-type': 'x' }, one)));
        const reader = new Frames();
        const found = pieces(bytes, cut).flatMap((piece) => reader.take(piece));
        expect(reader.isWhole).toBe(true);
        expect(found.map((one) => JSON.parse(Buffer.from(one.payload).toString()).text)).toEqual(
          payloads.map((one) => one.text),
        );
        const bit = where % (bytes.length * 8);
        bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        const other = new Frames();
        expect(() => {
          pieces(bytes, cut).flatMap((piece) => other.take(piece));
          if (!other.isWhole) throw new UpstreamError('network', 'cut off');
        }).toThrow(UpstreamError);
      },
    ),
    { numRuns: 300 },
  );
});

test('gemini: a streamed answer is the whole one', () => {
  const part: fc.Arbitrary<GeminiPart> = fc.oneof(
    fc.record({ text }),
    fc.record({ text, thought: fc.constant(true) }),
    fc.record({ text, thoughtSignature: fc.constant('c2ln') }),
    fc.record({ functionCall: fc.record({ name: fc.constantFrom('f', 'g'), args }) }),
    fc.record({ executableCode: fc.record({ code: text }) }) as fc.Arbitrary<GeminiPart>,
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), steps, (parts, cut) => {
      const head = { responseId: 'r', modelVersion: 'm' };
      const last = {
        candidates: [{ finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2 },
      };
      const one = new GeminiReader('m', 'x');
      const whole = [
        ...one.read({ ...head, ...last, candidates: [{ content: { parts }, finishReason: 'STOP' }] }),
        ...one.end(),
      ];
      const events = [
        ...parts.map((each) => ({ ...head, candidates: [{ content: { parts: [each] } }] })),
        { ...head, ...last },
      ];
      const streamed = read(overEvents(new GeminiReader('m', 'x'), json), sse(events), cut);
      expect(streamed).toEqual({ ...completionOf(whole), id: '', created: 0 });
      const words = parts.flatMap(({ text: said, thought }) => (thought ? [] : (said ?? []))).join('');
      expect(streamed.choices[0]?.message.content ?? '').toBe(words);
    }),
    { numRuns: 300 },
  );
});

test('bedrock: a streamed answer is the whole one', () => {
  const block: fc.Arbitrary<AnswerBlock> = fc.oneof(
    fc.record({ text }),
    fc.record({
      toolUse: fc.record({ toolUseId: fc.constantFrom('t1', 't2'), name: fc.constant('f'), input: args }),
    }),
    fc.record({
      reasoningContent: fc.record({ reasoningText: fc.record({ text, signature: fc.constant('c2ln') }) }),
    }),
  );
  const halves = (whole: string) => [whole.slice(0, whole.length >> 1), whole.slice(whole.length >> 1)];
  const eventsOf = ({ text: said, toolUse, reasoningContent }: AnswerBlock, contentBlockIndex: number) => {
    const delta = (value: object) =>
      frame({ ':event-type': 'contentBlockDelta' }, { contentBlockIndex, delta: value });
    const stop = frame({ ':event-type': 'contentBlockStop' }, { contentBlockIndex });
    if (said !== undefined) return [...halves(said).map((half) => delta({ text: half })), stop];
    if (toolUse) {
      const { input, ...start } = toolUse;
      const begin = frame(
        { ':event-type': 'contentBlockStart' },
        { contentBlockIndex, start: { toolUse: start } },
      );
      const typed = JSON.stringify(input);
      return [
        begin,
        ...(typed === '{}' ? [] : halves(typed).map((half) => delta({ toolUse: { input: half } }))),
        stop,
      ];
    }
    const { text: thought = '', signature } = reasoningContent?.reasoningText ?? {};
    return [
      ...halves(thought).map((half) => delta({ reasoningContent: { text: half } })),
      delta({ reasoningContent: { signature } }),
      stop,
    ];
  };
  fc.assert(
    fc.property(fc.array(block, { maxLength: 6 }), steps, (content, cut) => {
      const usage = { inputTokens: 3, outputTokens: 2 };
      const whole = new ConverseReader('m', 'x', false).whole({
        output: { message: { content } },
        stopReason: 'tool_use',
        usage,
      });
      const frames = [
        ...content.flatMap(eventsOf),
        frame({ ':event-type': 'messageStop' }, { stopReason: 'tool_use' }),
        frame({ ':event-type': 'metadata' }, { usage }),
      ];
      const streamed = read(overFrames(new ConverseReader('m', 'x', false), 'x'), Buffer.concat(frames), cut);
      expect(streamed).toEqual({ ...completionOf(whole), id: '', created: 0 });
    }),
    { numRuns: 300 },
  );
});

test('cohere: a streamed answer is the whole one', () => {
  const call = fc.record({
    id: fc.constantFrom('c1', 'c2'),
    type: fc.constant('function' as const),
    function: fc.record({
      name: fc.constant('f'),
      arguments: args.map((value) => (Object.keys(value).length === 0 ? '' : JSON.stringify(value))),
    }),
  });
  fc.assert(
    fc.property(
      fc.array(text, { maxLength: 4 }),
      fc.array(call, { maxLength: 3 }),
      steps,
      (words, calls, cut) => {
        const usage = { tokens: { input_tokens: 3, output_tokens: 2 } };
        const finish_reason = calls.length > 0 ? 'TOOL_CALL' : 'COMPLETE';
        const content = words.length > 0 ? [{ type: 'text', text: words.join('') }] : [];
        const whole = new CohereReader('m', 'x').whole({
          id: 'i',
          finish_reason,
          message: { content, tool_calls: calls },
          usage,
        });
        const events = [
          { type: 'message-start', id: 'i' },
          ...words.map((word) => ({
            type: 'content-delta',
            index: 0,
            delta: { message: { content: { text: word } } },
          })),
          ...calls.flatMap((each, index) => [
            {
              type: 'tool-call-start',
              index,
              delta: {
                message: { tool_calls: { ...each, function: { name: each.function.name, arguments: '' } } },
              },
            },
            {
              type: 'tool-call-delta',
              index,
              delta: { message: { tool_calls: { function: { arguments: each.function.arguments } } } },
            },
            { type: 'tool-call-end', index },
          ]),
          { type: 'message-end', delta: { finish_reason, usage } },
        ];
        const streamed = read(overEvents(new CohereReader('m', 'x'), json), sse(events), cut);
        expect(streamed).toEqual({ ...completionOf(whole), id: '', created: 0 });
        for (const { function: called } of streamed.choices[0]?.message.tool_calls ?? [])
          expect(typeof JSON.parse(called?.arguments ?? '')).toBe('object');
      },
    ),
    { numRuns: 300 },
  );
});
