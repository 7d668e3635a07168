import { createHash } from 'node:crypto';
import { backwards, valueFor } from './fake-provider.ts';

/** What the test upstream reads of a request. */
export interface FakeRequest extends Record<string, unknown> {
  readonly model: string;
  readonly messages: ReadonlyArray<{ role: string; content?: unknown }>;
  readonly stream?: boolean;
  readonly stream_options?: { include_usage?: boolean };
  readonly tools?: ReadonlyArray<{ function: { name: string } }>;
  readonly response_format?: { type: string; json_schema?: { schema: unknown } };
}

const CREATED = 1_700_000_123;

/**
 * What it says to a request: the user's words, backwards, so that only reading the request gives the right answer; in a
 * value of the schema when there is one.
 */
export function wordsFor({ messages, response_format }: FakeRequest): string[] {
  const said = backwards(textIn(messages.findLast(({ role }) => role === 'user')?.content));
  if (response_format?.type !== 'json_schema') return said;
  return JSON.stringify(valueFor(response_format.json_schema?.schema, said.join(' '))).split(' ');
}

/** A vector that depends on every character of a text. */
export function vectorFor(text: string): number[] {
  return [...createHash('sha256').update(text).digest().subarray(0, 4)].map((byte) => byte / 256);
}

function textIn(content: unknown): string {
  if (!Array.isArray(content)) return String(content ?? '');
  return content.map((part: { text?: string }) => part.text ?? '').join(' ');
}

/** The answer that does not stream. */
export function wholeCompletion(request: FakeRequest): object {
  const calls = toolCalls(request);
  const message =
    calls.length > 0 ? { role: 'assistant', content: null, tool_calls: calls } : textMessage(request);
  const finish_reason = calls.length > 0 ? 'tool_calls' : 'stop';
  return {
    ...head(request, 'chat.completion'),
    choices: [{ index: 0, message, logprobs: null, finish_reason }],
    usage: usage(request),
  };
}

/** The events of the answer that streams, the last one `[DONE]`. Tool calls interleave; usage comes alone at the end. */
export function completionEvents(request: FakeRequest): string[] {
  const withUsage = request.stream_options?.include_usage === true;
  const chunk = (choices: object[], counted: object | null = null) =>
    `data: ${JSON.stringify({ ...head(request, 'chat.completion.chunk'), choices, ...(withUsage ? { usage: counted } : {}) })}\n\n`;
  const delta = (content: object, finish_reason: string | null = null) =>
    chunk([{ index: 0, delta: content, finish_reason }]);
  const calls = toolCalls(request);
  const middle =
    calls.length > 0 ? toolDeltas(calls) : wordsFor(request).map((word) => ({ content: `${word} ` }));
  return [
    delta({ role: 'assistant', content: '' }),
    ...middle.map((content) => delta(content)),
    delta({}, calls.length > 0 ? 'tool_calls' : 'stop'),
    ...(withUsage ? [chunk([], usage(request))] : []),
    'data: [DONE]\n\n',
  ];
}

function head({ model }: FakeRequest, object: string) {
  return {
    id: 'chatcmpl-test',
    object,
    created: CREATED,
    model: `${model}-2026-01-01`,
    system_fingerprint: 'fp_1',
  };
}

function textMessage(request: FakeRequest) {
  return { role: 'assistant', content: wordsFor(request).join(' '), refusal: null };
}

function usage(request: FakeRequest) {
  const prompt_tokens = JSON.stringify(request.messages).length;
  const completion_tokens = wordsFor(request).length;
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

function toolCalls(request: FakeRequest) {
  const text = wordsFor(request).join(' ');
  return (request.tools ?? []).map((tool, i) => ({
    id: `call_${i}`,
    type: 'function',
    function: { name: tool.function.name, arguments: JSON.stringify({ text }) },
  }));
}

/** Parallel calls: first every name, then their arguments in pieces, by turns. */
function toolDeltas(calls: ReturnType<typeof toolCalls>): object[] {
  const starts = calls.map(({ id, type, function: { name } }, index) => ({
    tool_calls: [{ index, id, type, function: { name, arguments: '' } }],
  }));
  const pieces = [0, 1, 2].flatMap((third) =>
    calls.map((call, index) => {
      const text = call.function.arguments;
      const size = Math.ceil(text.length / 3);
      return {
        tool_calls: [{ index, function: { arguments: text.slice(third * size, (third + 1) * size) } }],
      };
    }),
  );
  return [...starts, ...pieces];
}
