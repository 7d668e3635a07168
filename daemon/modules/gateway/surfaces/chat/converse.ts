import { fail } from '../../../../../src/errors/app-error.ts';
import { newId } from '../../../../../src/kit/id.ts';
import type { Caller } from '../../../../http/route.ts';
import type { ModelCall } from '../../pipeline/call.ts';
import { failureOf } from '../../pipeline/failure.ts';
import type { Settlement } from '../../pipeline/settlement.ts';
import type { StreamedChat } from '../../upstream/adapter.ts';
import { Folding } from '../../upstream/translate/chunks.ts';
import type { ChatChunk, ChatCompletion, ChatMessage, ChatRequest } from '../../wire/chat.ts';
import { usageOf } from '../../wire/chat-usage.ts';
import { plausible } from '../../wire/plausible.ts';
import type { Usage } from '../../wire/usage.ts';
import { broken, cutOff } from '../broken-stream.ts';
import { checkedChunks, textOf } from './guarded.ts';
import { guessUsage } from './guess.ts';
import type { ChatSurface } from './surface.ts';

/** What another module of the daemon asks a model. */
export interface ConverseWish {
  readonly request: Omit<ChatRequest, 'stream' | 'stream_options' | 'n'>;
  readonly signal: AbortSignal;
  /** Told each piece of the answer's text as it comes. */
  readonly onText?: (delta: string) => void;
  /** Wishes as in the headers of a request (docs/gateway/headers.md). */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A whole answer. */
export interface Reply {
  /** The assistant's message, as it goes back into the conversation. */
  readonly message: ChatMessage;
  /** `stop`, `tool_calls`, `length`, `content_filter`. */
  readonly finishReason: string;
  /** `provider/model` that has answered. */
  readonly model: string;
  readonly usage: Usage;
  /** In millionths of a US dollar; absent when the model has no known price. */
  readonly costMicros?: number;
  /** Its row in the request log. */
  readonly requestId: string;
}

/**
 * Asks a model on behalf of somebody: the call passes the whole way of a request, and stands in the request log as the
 * caller's. Errors: as Pipeline.run; upstream_failed when a stream breaks; cancelled when the signal fires.
 */
export type Converse = (caller: Caller, wish: ConverseWish) => Promise<Reply>;

/** The longest answer, in characters of everything that it says: it is held in memory, and kept. Many times what a model writes. */
const MOST_ANSWER = 8 * 1024 * 1024;

/** Conversations of other modules, in this process. */
export function converseThrough(surface: ChatSurface): Converse {
  return async (caller, wish) => {
    const call = callOf(caller, wish);
    const served = await surface.serve(call);
    const { settlement } = served;
    if (served.kind === 'kept') {
      settlement.finish('completed');
      const completion = JSON.parse(served.kept.body) as ChatCompletion;
      return replyOf(completion, call, settlement, wish);
    }
    try {
      const { answer } = served;
      const check = surface.outputCheck(call, settlement);
      if (answer.kind === 'whole') {
        if ((answer.raw?.length ?? 0) > MOST_ANSWER) throw tooLong(settlement);
        await check?.(textOf(answer.completion));
      }
      const completion =
        answer.kind === 'whole' ? answer.completion : await gathered(answer, check, settlement, wish);
      const reply = replyOf(completion, call, settlement, answer.kind === 'whole' ? wish : undefined);
      settlement.used(reply.usage);
      settlement.finish('completed');
      return { ...reply, ...costIn(settlement) };
    } catch (error) {
      throw ended(error, call, settlement);
    }
  };
}

function callOf(caller: Caller, { request, signal, headers = {} }: ConverseWish): ModelCall<ChatRequest> {
  return {
    surface: 'chat',
    caller,
    requestId: newId('req'),
    peer: () => '',
    signal,
    headers: new Headers(headers),
    request: { ...request, stream: true, stream_options: { include_usage: true } } as ChatRequest,
  };
}

/** Reads a stream to its end. Errors: upstream_failed when it has none, or says too much. */
async function gathered(
  { chunks }: StreamedChat,
  check: ((text: string) => Promise<void>) | undefined,
  settlement: Settlement,
  { onText }: ConverseWish,
): Promise<ChatCompletion> {
  const folding = new Folding();
  let said = 0;
  for await (const chunk of check ? checkedChunks(chunks, check) : chunks) {
    said += lengthOf(chunk);
    if (said > MOST_ANSWER) throw tooLong(settlement);
    folding.add(chunk);
    const usage = usageOf(chunk);
    if (usage) settlement.used(usage);
    const text = chunk.choices[0]?.delta.content;
    if (text) onText?.(text);
  }
  const completion = folding.completion();
  if (!completion.choices[0]?.finish_reason) throw cutOff(settlement);
  return completion;
}

/** What a chunk adds to an answer. Text is counted as it is; the rest is rare, and counted as it would be written. */
function lengthOf({ choices }: ChatChunk): number {
  return choices.reduce((sum, { delta: { content, ...rest }, logprobs }) => {
    const text = typeof content === 'string' ? content.length : 0;
    const isText = Object.keys(rest).length === 0 && !logprobs;
    return sum + text + (isText ? 0 : JSON.stringify([rest, logprobs]).length);
  }, 0);
}

function tooLong({ model = '' }: Settlement): Error {
  return fail('upstream_failed', {
    message: `The model ${model} has said more than ${MOST_ANSWER} characters, and was left.`,
  });
}

function replyOf(
  completion: ChatCompletion,
  call: ModelCall<ChatRequest>,
  { model = '' }: Settlement,
  wish: ConverseWish | undefined,
): Reply {
  const [choice] = completion.choices;
  if (!choice) throw fail('upstream_failed', { message: `The model ${model} answered with no choice.` });
  const { message, finish_reason } = choice;
  if (wish && typeof message.content === 'string') wish.onText?.(message.content);
  return {
    message,
    finishReason: finish_reason ?? 'stop',
    model,
    usage: plausible(usageOf(completion) ?? guessUsage(call.request, textOf(completion).length / 4)),
    requestId: call.requestId,
  };
}

function costIn({ costMicros }: Settlement): Pick<Reply, 'costMicros'> {
  return costMicros === undefined ? {} : { costMicros };
}

function ended(error: unknown, { signal }: ModelCall, settlement: Settlement): unknown {
  const cause = broken(error, settlement);
  if (signal.aborted) {
    settlement.finish('stopped');
    return fail('cancelled');
  }
  settlement.finish('failed', cause);
  return failureOf(cause, []);
}
