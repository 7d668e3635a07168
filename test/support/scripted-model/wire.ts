import type { WireCall } from './messages.ts';

/** An answer of a model, to be written down. */
export interface WireAnswer {
  readonly model: string;
  readonly text: string;
  readonly calls: readonly WireCall[];
  readonly promptTokens: number;
}

const CREATED = 1_700_000_456;

/** Tokens of a text, as the scripted model counts. */
export function tokensOf(text: string): number {
  return Math.ceil(text.length / 4);
}

/** The answer that does not stream. */
export function wholeAnswer(answer: WireAnswer): object {
  const { text, calls } = answer;
  const message = {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
  return {
    ...head(answer, 'chat.completion'),
    choices: [{ index: 0, message, logprobs: null, finish_reason: endOf(answer) }],
    usage: usageOf(answer),
  };
}

/** The events of the answer that streams: words, then calls by turns with their arguments in pieces, the end, the usage. */
export function answerEvents(answer: WireAnswer, withUsage: boolean): string[] {
  const event = (choices: object[], usage: object | null = null) =>
    `data: ${JSON.stringify({ ...head(answer, 'chat.completion.chunk'), choices, ...(withUsage ? { usage } : {}) })}\n\n`;
  const delta = (content: object, finish_reason: string | null = null) =>
    event([{ index: 0, delta: content, finish_reason }]);
  return [
    delta({ role: 'assistant', content: answer.calls.length > 0 ? null : '' }),
    ...wordsOf(answer.text).map((content) => delta({ content })),
    ...callDeltas(answer.calls).map((content) => delta(content)),
    delta({}, endOf(answer)),
    ...(withUsage ? [event([], usageOf(answer))] : []),
    'data: [DONE]\n\n',
  ];
}

/** A text in words, each with the space after it. */
export function wordsOf(text: string): string[] {
  return text.match(/\S+\s*|^\s+/g) ?? [];
}

/** First all names, then the arguments of all in three pieces, by turns: who mixes up indices mixes up calls. */
function callDeltas(calls: readonly WireCall[]): object[] {
  const starts = calls.map(({ id, type, function: { name } }, index) => ({
    tool_calls: [{ index, id, type, function: { name, arguments: '' } }],
  }));
  const pieces = [0, 1, 2].flatMap((third) =>
    calls.map(({ function: { arguments: text } }, index) => {
      const size = Math.ceil(text.length / 3);
      const piece = text.slice(third * size, (third + 1) * size);
      return { tool_calls: [{ index, function: { arguments: piece } }] };
    }),
  );
  return [...starts, ...pieces];
}

function endOf({ calls }: WireAnswer): string {
  return calls.length > 0 ? 'tool_calls' : 'stop';
}

function head({ model }: WireAnswer, object: string) {
  return { id: 'chatcmpl-scripted', object, created: CREATED, model, system_fingerprint: 'fp_s' };
}

function usageOf({ text, calls, promptTokens }: WireAnswer) {
  const completionTokens = tokensOf(text + JSON.stringify(calls));
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}
