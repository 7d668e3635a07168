import { newId } from '../../../../../src/kit/id.ts';
import type { ChatChunk, ChatCompletion } from '../../wire/chat.ts';
import type { Adapter, StreamedChat, WholeChat } from '../adapter.ts';
import { UpstreamError } from '../error.ts';
import { refused } from '../refused.ts';
import { type Answer, answerTo } from './answer.ts';
import { BM25, rerankByWords } from './bm25/rerank.ts';

/** The name of the one chat model of this provider: `local/echo`. */
export const ECHO = 'echo';

/**
 * The provider `local`, inside the daemon. Its model `local/echo` repeats what the user said last, word by word: a way to try clients,
 * streams and limits without a key and without a network. Its model `local/bm25` reranks by words. It answers for no other model.
 */
export const localAdapter: Adapter = {
  async chat(request) {
    if (request.model !== ECHO)
      throw refused('model', `there is no chat model local/${request.model}; take local/${ECHO}`);
    if ((request.n ?? 1) > 1)
      throw new UpstreamError('request', 'n: must be 1: local/echo has one answer', {
        status: 400,
        param: 'n',
      });
    const answer = answerTo(request);
    return request.stream ? streamed(answer) : whole(answer);
  },
  relay: { rerank: rerankByWords },
  models: async () => [
    { id: ECHO, created: 0 },
    { id: BM25, created: 0 },
  ],
};

const JSON_HEADERS = { 'content-type': 'application/json' };

function whole(answer: Answer): WholeChat {
  const { pieces, finishReason, usage } = answer;
  const message = { role: 'assistant' as const, content: pieces.join(''), refusal: null };
  const completion: ChatCompletion = {
    ...head(),
    object: 'chat.completion',
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason }],
    usage,
  };
  return { kind: 'whole', headers: new Headers(JSON_HEADERS), completion };
}

function streamed(answer: Answer): StreamedChat {
  return { kind: 'stream', headers: new Headers(), chunks: chunksOf(answer) };
}

async function* chunksOf({ pieces, finishReason, usage }: Answer): AsyncGenerator<ChatChunk> {
  const first = { ...head(), object: 'chat.completion.chunk' as const };
  const chunk = (delta: ChatChunk['choices'][number]['delta'], finish: string | null = null): ChatChunk => ({
    ...first,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  });
  yield chunk({ role: 'assistant', content: '' });
  for (const content of pieces) yield chunk({ content });
  yield chunk({}, finishReason);
  yield { ...first, choices: [], usage };
}

function head(): Pick<ChatCompletion, 'id' | 'created' | 'model'> {
  const now = Date.now();
  return { id: newId('chatcmpl', now), created: Math.floor(now / 1000), model: `local/${ECHO}` };
}
