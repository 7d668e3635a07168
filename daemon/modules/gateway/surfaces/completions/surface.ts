import type { ModelCall } from '../../pipeline/call.ts';
import type { Pipeline, SurfaceWork } from '../../pipeline/pipeline.ts';
import type { RawAnswer } from '../../upstream/adapter.ts';
import { UpstreamError } from '../../upstream/error.ts';
import type { Usage } from '../../wire/usage.ts';
import { UsageFilter } from '../../wire/usage-filter.ts';
import { usageIn } from '../../wire/usage-object.ts';
import { answerRaw, type Passage, type RawReading } from '../raw-answer.ts';
import { textsIn } from '../texts-in.ts';
import { completeOverChat } from './over-chat.ts';
import type { TextRequest } from './text-request.ts';

const CHARS_PER_TOKEN = 4;

const work: SurfaceWork<TextRequest, RawAnswer> = {
  can: ({ adapter }) => adapter.relay?.completions !== undefined || adapter.chat !== undefined,
  async send(request, { relay, chat }, upstream) {
    if (!relay?.completions && !chat) throw new UpstreamError('request', 'This provider has no completions.');
    if (!relay?.completions) return completeOverChat(request, chat as NonNullable<typeof chat>, upstream);
    try {
      return await relay.completions(request, upstream);
    } catch (error) {
      if (!chat || !onlyChats(error)) throw error;
      return completeOverChat(request, chat, upstream);
    }
  },
};

const reading: RawReading<TextRequest> = {
  took: (text, request) => usageIn(text) ?? guess(request, text.length / CHARS_PER_TOKEN),
  passage,
  said: (answer) => textsIn(answer).join(''),
};

/** Text completions, in the wire format of stock clients; over chat where a provider or a model has nothing else. */
export class CompletionsSurface {
  constructor(private readonly pipeline: Pipeline) {}

  /** Answers a request. Errors: as Pipeline.run. */
  complete(call: ModelCall<TextRequest>): Promise<Response> {
    return answerRaw(this.pipeline, call, work, reading);
  }
}

/** Providers without this surface answer 404, and so does a model that only chats; nothing has been made then. */
function onlyChats(error: unknown): boolean {
  if (!(error instanceof UpstreamError) || error.kind !== 'request') return false;
  const { status } = error.details;
  return status === 404 || status === 405 || (status === 400 && /\bchat\b/i.test(error.message));
}

function passage(request: TextRequest): Passage {
  const filter = new UsageFilter(request.stream_options?.include_usage === true);
  return {
    passing: (lines) => filter.passing(lines),
    usage: () => filter.usage ?? guess(request, filter.events),
    isComplete: () => filter.isComplete,
  };
}

function guess({ prompt }: TextRequest, output: number): Usage {
  const input = Math.ceil(JSON.stringify(prompt ?? '').length / CHARS_PER_TOKEN);
  return { input, output: Math.ceil(output), estimated: true };
}
