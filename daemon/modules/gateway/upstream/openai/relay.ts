import { ReadAhead } from '../../wire/byte-source.ts';
import { Form } from '../../wire/form.ts';
import { streamOfSource } from '../../wire/stream-of.ts';
import type { Adapter, ByteSource, JsonSurface, RawAnswer, RelayRequest, Upstream } from '../adapter.ts';
import { failedAnswer } from '../failed-answer.ts';
import { failedCall } from '../open.ts';
import { passHeaders } from '../pass-headers.ts';
import { readText } from '../translate/answer.ts';
import { headersOf, pathOf } from './address.ts';
import { isJson, notThisDialect } from './answer.ts';
import { untilContent, untilEvent } from './first-content.ts';
import { reportsUsage } from './stream-usage.ts';

/** Where each surface of the family is. */
const PATHS = {
  responses: '/responses',
  completions: '/completions',
  embeddings: '/embeddings',
  image_generations: '/images/generations',
  image_edits: '/images/edits',
  image_variations: '/images/variations',
  speech: '/audio/speech',
  transcriptions: '/audio/transcriptions',
  translations: '/audio/translations',
  moderations: '/moderations',
} as const satisfies Partial<Record<JsonSurface, string>>;

/** The surfaces of the family other than chat: JSON and forms as they are, only the model's name is rewritten. */
export const openaiRelay: NonNullable<Adapter['relay']> = Object.fromEntries(
  (Object.keys(PATHS) as (keyof typeof PATHS)[]).map((surface) => [
    surface,
    (request: RelayRequest, upstream: Upstream) => relayTo(surface, request, upstream),
  ]),
);

async function relayTo(
  surface: keyof typeof PATHS,
  request: RelayRequest,
  upstream: Upstream,
): Promise<RawAnswer> {
  const asked = surface === 'completions' ? reportsUsage(request, upstream) : request;
  const { contentType, body } = bodyOf(asked);
  const response = await upstream.fetch(pathOf(PATHS[surface], upstream, request.model), {
    headers: headersOf(upstream, contentType),
    body,
  });
  if (!response.ok) throw await failedAnswer(response, upstream);
  const headers = passHeaders(response.headers);
  const type = headers.get('content-type') ?? '';
  if (isJson(type)) return { headers, body: await readText(response, upstream) };
  if (type.startsWith('text/html') || !response.body) {
    await response.body?.cancel();
    throw notThisDialect(upstream, type);
  }
  const begin = !type.startsWith('text/event-stream')
    ? firstBytes
    : surface === 'completions'
      ? untilContent
      : untilEvent;
  const source = await begin(response.body.getReader(), upstream.account.name).catch((error: unknown) => {
    throw failedCall(error, upstream.account.name, upstream.signal);
  });
  return { headers, body: streamOfSource(source) };
}

function bodyOf(request: RelayRequest): {
  contentType: string;
  body: string | Uint8Array | ReadableStream<Uint8Array>;
} {
  const { form, stream: _, ...fields } = request;
  // A caller's own field of this name is JSON and passes as any other that is not known.
  if (!(form instanceof Form)) return { contentType: 'application/json', body: JSON.stringify(request) };
  return form.encode(textsIn(fields));
}

/** What of a request can stand in a form. */
function textsIn(fields: Readonly<Record<string, unknown>>): Record<string, string> {
  const plain = Object.entries(fields).filter(([, value]) =>
    ['string', 'number', 'boolean'].includes(typeof value),
  );
  return Object.fromEntries(plain.map(([name, value]) => [name, String(value)]));
}

/** Until something has come, another upstream may be asked. */
async function firstBytes(source: ByteSource): Promise<ByteSource> {
  const { value } = await source.read();
  return new ReadAhead(value ? [value] : [], source);
}
