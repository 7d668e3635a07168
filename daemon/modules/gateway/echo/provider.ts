import { invalid } from '../../../../src/errors/app-error.ts';
import { newId } from '../../../../src/kit/id.ts';
import type { Clock } from '../../../../src/kit/time.ts';
import type { ChatContext, ChatRequest, Provider } from '../provider.ts';
import { eventStream, SSE_HEADERS } from '../sse.ts';
import { type Answer, answerTo } from './answer.ts';

/** The name of the one model of this provider: `local/echo`. */
const MODEL = 'echo';

/**
 * The provider `local`. Its model `local/echo` repeats what the user said last, word by word: a way to try clients,
 * streams and limits without a key and without a network. It answers for no other model.
 */
export function createEchoProvider(clock: Clock): Provider {
  return {
    name: 'local',
    closed: true,
    models: async () => [{ id: MODEL, created: 0 }],
    async complete(request, context) {
      if ((request.n ?? 1) > 1)
        throw invalid({ field: 'n', description: 'must be 1: local/echo has one answer' });
      const answer = answerTo(request);
      const head = {
        id: newId('chatcmpl', clock.now()),
        created: Math.floor(clock.now() / 1000),
        model: `local/${MODEL}`,
      };
      return request.stream ? streamed(head, answer, request, context) : whole(head, answer, context);
    },
  };
}

interface Head {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

function whole(head: Head, { pieces, finishReason, usage }: Answer, context: ChatContext): Response {
  const message = { role: 'assistant', content: pieces.join(''), refusal: null };
  const choice = { index: 0, message, logprobs: null, finish_reason: finishReason };
  report(usage, context);
  return Response.json({ ...head, object: 'chat.completion', choices: [choice], usage });
}

function streamed(head: Head, answer: Answer, request: ChatRequest, context: ChatContext): Response {
  const body = eventStream(events(head, answer, request, context));
  return new Response(body, { headers: SSE_HEADERS });
}

function* events(
  head: Head,
  { pieces, finishReason, usage }: Answer,
  request: ChatRequest,
  context: ChatContext,
): Generator<string> {
  const withUsage = request.stream_options?.include_usage === true;
  const event = (choices: readonly unknown[], counted: unknown = null) =>
    JSON.stringify({
      ...head,
      object: 'chat.completion.chunk',
      choices,
      ...(withUsage ? { usage: counted } : {}),
    });
  const delta = (content: object, finish: string | null = null) =>
    event([{ index: 0, delta: content, logprobs: null, finish_reason: finish }]);
  yield delta({ role: 'assistant', content: '' });
  for (const piece of pieces) yield delta({ content: piece });
  yield delta({}, finishReason);
  if (withUsage) yield event([], usage);
  report(usage, context);
  yield '[DONE]';
}

function report({ prompt_tokens, completion_tokens }: Answer['usage'], context: ChatContext): void {
  context.used({ input: prompt_tokens, output: completion_tokens });
}
