import type { ModerationRequest } from '../../../../../src/api/gateway/moderations.ts';
import type { Value } from '../../../../../src/api/schema.ts';
import { parseNested } from '../../../../../src/kit/nesting.ts';
import type { ModelCall } from '../../pipeline/call.ts';
import type { Pipeline, SurfaceWork } from '../../pipeline/pipeline.ts';
import type { RawAnswer } from '../../upstream/adapter.ts';
import { UpstreamError } from '../../upstream/error.ts';
import { usageIn } from '../../wire/usage-object.ts';
import { answerRaw } from '../raw-answer.ts';
import { relayWork } from '../relay-work.ts';

type Request = Value<typeof ModerationRequest> & { readonly model: string };

/** The model of requests that name none, as with the first of this family. */
export const DEFAULT_MODERATION_MODEL = 'omni-moderation-latest';

const relaying = relayWork<Request>('moderations');

const work: SurfaceWork<Request, RawAnswer> = {
  can: relaying.can,
  async send(request, adapter, upstream) {
    const answer = await relaying.send(request, adapter, upstream);
    const text = typeof answer.body === 'string' ? answer.body : await new Response(answer.body).text();
    return { ...answer, body: withFlags(text, upstream.account.name) };
  },
};

/** Moderation: in the wire format of stock clients. */
export class ModerationsSurface {
  constructor(private readonly pipeline: Pipeline) {}

  /** Answers a request. Errors: as Pipeline.run. */
  create(call: ModelCall<Request>): Promise<Response> {
    return answerRaw(this.pipeline, call, work, { took: usageIn });
  }
}

interface Results {
  readonly results: readonly {
    readonly flagged?: boolean;
    readonly categories?: Readonly<Record<string, boolean>>;
  }[];
}

/** Some providers tell the categories alone; an input is flagged when one of them holds. */
function withFlags(text: string, provider: string): string {
  const body = parse(text, provider);
  if (body.results.every(({ flagged }) => typeof flagged === 'boolean')) return text;
  const results = body.results.map((result) => ({
    flagged: Object.values(result.categories ?? {}).some((holds) => holds === true),
    ...result,
  }));
  return JSON.stringify({ ...body, results });
}

function parse(text: string, provider: string): Results {
  try {
    const body = parseNested(text) as Results;
    if (Array.isArray(body.results)) return body;
  } catch {
    // Told below, with what has no results.
  }
  throw new UpstreamError('server', `The provider ${provider} answered with no moderation results.`);
}
