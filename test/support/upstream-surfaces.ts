import { inPieces } from './fake-provider.ts';
import { completionEvents, type FakeRequest, wholeCompletion } from './upstream-answer.ts';
import { FakeRequestError, type FormSeen, fieldsOf } from './upstream-form.ts';
import { heardIn, packed, pngOf, vectorOf, wavOf } from './upstream-surfaces-answer.ts';

/** The key that this upstream wants. */
export const SURFACES_KEY = 'sk-test-surfaces-0123456789';

/** What it has seen. */
export interface SurfacesSeen {
  readonly count: number;
  /** Calls that were left by the caller before their end. */
  readonly left: number;
  readonly lastPath: string;
  readonly lastType: string;
  readonly lastBody: Readonly<Record<string, unknown>>;
  readonly lastForm: readonly FormSeen[];
}

const seen = { count: 0, left: 0, lastPath: '', lastType: '', lastBody: {}, lastForm: [] as FormSeen[] };

type Json = Record<string, unknown>;

/**
 * A fake of the surfaces other than chat, in a process of its own: `/v1` speaks as the first of the family, `/voyage/v1` and
 * `/jina/v1` as those. Everything in its answers comes from the request, and it refuses what the real ones refuse.
 */
async function answer(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (pathname === '/seen') return Response.json(seen);
  if (request.headers.get('authorization') !== `Bearer ${SURFACES_KEY}`)
    return refusal(401, 'no key', 'invalid_api_key');
  if (pathname === '/v1/models')
    return Response.json({ object: 'list', data: MODELS.map((id) => ({ id, created: 1 })) });
  seen.count++;
  seen.lastPath = pathname;
  seen.lastType = request.headers.get('content-type') ?? '';
  request.signal.addEventListener('abort', () => seen.left++);
  try {
    const form = FORMS[pathname];
    if (form) {
      const fields = await fieldsOf(request);
      seen.lastForm = fields.list;
      if (fields.texts.model?.startsWith('limited')) return limited();
      return await form(fields, request.signal);
    }
    const body = (await request.json()) as Json;
    seen.lastBody = body;
    if (body.model === 'page')
      return new Response('<h1>Hi</h1>', { headers: { 'content-type': 'text/html' } });
    if (String(body.model).startsWith('limited')) return limited();
    const json = JSONS[pathname];
    return json
      ? await json(body, request.signal)
      : refusal(404, `Unknown request URL: POST ${pathname}`, 'unknown_url');
  } catch (error) {
    if (error instanceof FakeRequestError) return refusal(400, error.message, 'invalid_value', error.param);
    throw error;
  }
}

const MODELS = [
  'gpt-4o-mini',
  'embed',
  'text-1',
  'chat-only',
  'paint',
  'speak',
  'hear',
  'omni-moderation-latest',
  'gpt-image-1',
  'dall-e-2',
];

const JSONS: Readonly<Record<string, (body: Json, signal: AbortSignal) => Response | Promise<Response>>> = {
  '/v1/embeddings': embeddings,
  '/v1/completions': completions,
  '/v1/chat/completions': chat,
  '/v1/moderations': moderations,
  '/v1/images/generations': (body, signal) => images(body, String(body.prompt), 'image_generation', signal),
  '/v1/audio/speech': speech,
  '/voyage/v1/embeddings': voyageEmbeddings,
  '/voyage/v1/rerank': voyageRerank,
  '/jina/v1/embeddings': jinaEmbeddings,
  '/jina/v1/rerank': jinaRerank,
};

type Fields = Awaited<ReturnType<typeof fieldsOf>>;

const FORMS: Readonly<Record<string, (form: Fields, signal: AbortSignal) => Response | Promise<Response>>> = {
  '/v1/images/edits': async ({ texts, files }, signal) => {
    const first = files[0];
    if (!first) throw new FakeRequestError('image is required', 'image');
    const seed = `${texts.prompt} ${files.map(({ name, bytes }) => heardIn(name, bytes)).join(' ')}`;
    return images(texts, seed, 'image_edit', signal);
  },
  '/v1/images/variations': ({ texts, files }, signal) => {
    const first = files.find(({ field }) => field === 'image');
    if (!first) throw new FakeRequestError('image is required', 'image');
    return images(texts, `variation ${first.bytes.length}`, 'image_variation', signal);
  },
  '/v1/audio/transcriptions': (form, signal) => written(form, 'transcribe', signal),
  '/v1/audio/translations': (form, signal) => written(form, 'translate', signal),
};

function embeddings({ model, input, encoding_format = 'float', dimensions }: Json): Response {
  if (encoding_format === 'base64' && model === 'embed-strict')
    throw new FakeRequestError('Unsupported value for encoding_format', 'encoding_format');
  const list = textsOf(input);
  const data = list.map((text, index) => {
    const vector = vectorOf(text, dimensions as number | undefined);
    const asText = encoding_format === 'base64' && model !== 'embed-float';
    return { object: 'embedding', index, embedding: asText ? packed(vector) : vector };
  });
  const tokens = list.reduce((sum, text) => sum + text.length, 0);
  return Response.json({
    object: 'list',
    data,
    model: `${model}-v1`,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  });
}

function completions(body: Json, signal: AbortSignal): Response {
  if (body.model === 'chat-only')
    return refusal(
      404,
      'This is a chat model and not supported in the v1/completions endpoint.',
      null,
      'model',
    );
  const words = String(body.prompt).split(/\s+/).toReversed();
  const head = { id: 'cmpl-1', object: 'text_completion', created: 1, model: `${body.model}-v1` };
  const usage = {
    prompt_tokens: words.length,
    completion_tokens: words.length,
    total_tokens: words.length * 2,
  };
  if (!body.stream)
    return Response.json({
      ...head,
      choices: [{ index: 0, text: words.join(' '), logprobs: null, finish_reason: 'stop' }],
      usage,
    });
  const asks = (body.stream_options as Json | undefined)?.include_usage === true;
  const events = [
    ...words.map((text) => ({
      ...head,
      choices: [{ index: 0, text: `${text} `, logprobs: null, finish_reason: null }],
    })),
    { ...head, choices: [{ index: 0, text: '', logprobs: null, finish_reason: 'stop' }] },
    ...(asks ? [{ ...head, choices: [], usage }] : []),
  ];
  return eventsOf([...events.map((event) => JSON.stringify(event)), '[DONE]'], String(body.model), signal);
}

function chat(body: Json, signal: AbortSignal): Response {
  const request = body as FakeRequest;
  if (!request.stream) return Response.json(wholeCompletion(request));
  const bytes = Buffer.from(completionEvents(request).join(''));
  return new Response(inPieces(bytes, request.model, signal), {
    headers: { 'content-type': 'text/event-stream' },
  });
}

function moderations({ model, input }: Json): Response {
  const results = textsOf(Array.isArray(input) ? input.map((one) => one.text ?? one) : input).map((text) => {
    const violence = text.includes('kill');
    const scores = { violence: violence ? 0.9 : 0.01, hate: 0.001 };
    const categories = { violence, hate: false };
    return model === 'judge-bare'
      ? { categories, category_scores: scores }
      : { flagged: violence, categories, category_scores: scores };
  });
  return Response.json({ id: 'modr-1', model, results });
}

function images(body: Json, seed: string, kind: string, signal: AbortSignal): Response {
  const n = Number(body.n ?? 1);
  if (n > 10) throw new FakeRequestError('n must be at most 10', 'n');
  const pictures = Array.from({ length: n }, (_, place) => pngOf(`${seed} ${place}`).toString('base64'));
  const usage = { input_tokens: seed.length, output_tokens: 100 * n, total_tokens: seed.length + 100 * n };
  if (body.stream === true || body.stream === 'true') {
    const partial = {
      type: `${kind}.partial_image`,
      b64_json: pngOf(`part ${seed}`).toString('base64'),
      partial_image_index: 0,
    };
    const done = { type: `${kind}.completed`, b64_json: pictures[0], usage };
    return eventsOf(
      [JSON.stringify(partial), JSON.stringify(done)],
      String(body.model),
      signal,
      (data) => JSON.parse(data).type,
    );
  }
  const data = pictures.map((b64_json, place) =>
    body.response_format === 'url'
      ? { url: `https://pictures.example/${place}.png` }
      : { b64_json, revised_prompt: `a "usage" of ${seed}` },
  );
  return Response.json({ created: 1_700_000_000, data, usage });
}

function speech({ model, input, stream_format, response_format }: Json, signal: AbortSignal): Response {
  const wav = wavOf(String(input));
  if (stream_format === 'sse') {
    const half = Math.floor(wav.length / 2);
    const events = [wav.subarray(0, half), wav.subarray(half)].map((part) => ({
      type: 'speech.audio.delta',
      audio: part.toString('base64'),
    }));
    const usage = {
      input_tokens: String(input).length,
      output_tokens: 7,
      total_tokens: String(input).length + 7,
    };
    return eventsOf(
      [...events, { type: 'speech.audio.done', usage }].map((event) => JSON.stringify(event)),
      String(model),
      signal,
    );
  }
  if (response_format !== undefined && response_format !== 'wav')
    throw new FakeRequestError('only wav here', 'response_format');
  return new Response(inPieces(wav, String(model), signal), { headers: { 'content-type': 'audio/wav' } });
}

function written({ texts, files }: Fields, task: string, signal: AbortSignal): Response {
  const file = files.find(({ field }) => field === 'file');
  if (!file) throw new FakeRequestError('file is required', 'file');
  const text = [task, heardIn(file.name, file.bytes), texts.language ?? '-', texts.prompt ?? '-'].join(' ');
  const usage = { type: 'duration', seconds: Math.ceil(file.bytes.length / 16_000) };
  switch (texts.response_format ?? 'json') {
    case 'text':
      return plain(`${text}\n`, 'text/plain; charset=utf-8');
    case 'srt':
      return plain(`1\n00:00:00,000 --> 00:00:01,000\n${text}\n\n`, 'text/plain; charset=utf-8');
    case 'vtt':
      return plain(`WEBVTT\n\n00:00.000 --> 00:01.000\n${text}\n\n`, 'text/vtt');
    case 'verbose_json':
      return Response.json({
        task,
        language: 'english',
        duration: 8.5,
        text,
        segments: [],
        words: texts['timestamp_granularities[]'],
      });
    default:
  }
  if (texts.stream !== 'true') return Response.json({ text, usage });
  const deltas = text.split(' ').map((word) => ({ type: 'transcript.text.delta', delta: `${word} ` }));
  const done = {
    type: 'transcript.text.done',
    text,
    usage: { type: 'tokens', input_tokens: 14, output_tokens: 45, total_tokens: 59 },
  };
  return eventsOf(
    [...deltas, done].map((event) => JSON.stringify(event)),
    texts.model ?? '',
    signal,
  );
}

function plain(text: string, type: string): Response {
  return new Response(text, { headers: { 'content-type': type } });
}

function voyageEmbeddings({ model, input, output_dimension, encoding_format, ...rest }: Json): Response {
  only(rest, ['input_type', 'truncation', 'output_dtype']);
  if (encoding_format !== undefined && encoding_format !== 'base64')
    throw new FakeRequestError(
      "Value 'float' provided is invalid. Should be 'base64' or null",
      'encoding_format',
    );
  const list = textsOf(input);
  const data = list.map((text, index) => {
    const vector = vectorOf(text, (output_dimension as number | undefined) ?? 4);
    return { object: 'embedding', embedding: encoding_format === 'base64' ? packed(vector) : vector, index };
  });
  return Response.json({
    object: 'list',
    data,
    model,
    usage: { total_tokens: list.join(' ').split(' ').length },
  });
}

function jinaEmbeddings({ model, input, dimensions, embedding_type = 'float', ...rest }: Json): Response {
  only(rest, ['task', 'late_chunking', 'normalized', 'truncate']);
  const list = textsOf(input);
  const data = list.map((text, index) => {
    const vector = vectorOf(text, (dimensions as number | undefined) ?? 4);
    return { object: 'embedding', index, embedding: embedding_type === 'base64' ? packed(vector) : vector };
  });
  const tokens = list.join(' ').split(' ').length;
  return Response.json({
    model,
    object: 'list',
    usage: { total_tokens: tokens, prompt_tokens: tokens },
    data,
  });
}

function voyageRerank({ model, query, documents, top_k, ...rest }: Json): Response {
  only(rest, ['return_documents', 'truncation']);
  const data = ranked(String(query), documents as string[], top_k as number | undefined);
  return Response.json({ object: 'list', data, model, usage: { total_tokens: 26 } });
}

function jinaRerank({ model, query, documents, top_n, ...rest }: Json): Response {
  only(rest, ['return_documents']);
  const results = ranked(String(query), documents as string[], top_n as number | undefined);
  return Response.json({ model, usage: { total_tokens: 62 }, results });
}

/** By how many words of the query a document has. */
function ranked(query: string, documents: readonly string[], most?: number) {
  const words = query.toLowerCase().split(/\s+/);
  const scores = documents.map((text, index) => ({
    relevance_score: words.filter((word) => text.toLowerCase().includes(word)).length / words.length,
    index,
  }));
  return scores.toSorted((a, b) => b.relevance_score - a.relevance_score).slice(0, most);
}

function only(rest: Json, names: readonly string[]): void {
  const [strange] = Object.keys(rest).filter((name) => !names.includes(name));
  if (strange) throw new FakeRequestError(`Argument '${strange}' is not supported by our API`, strange);
}

function textsOf(input: unknown): string[] {
  const list = Array.isArray(input) ? input : [input];
  if (list.some((one) => one === '' || one === undefined))
    throw new FakeRequestError('input cannot be empty', 'input');
  return list.every((one) => typeof one === 'number')
    ? [JSON.stringify(list)]
    : list.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)));
}

function limited(): Response {
  return refusal(429, 'slow down', 'rate_limit_exceeded', undefined, { 'retry-after': '7' });
}

function eventsOf(
  data: readonly string[],
  model: string,
  signal: AbortSignal,
  name?: (data: string) => string,
): Response {
  const text = data.map((one) => `${name ? `event: ${name(one)}\n` : ''}data: ${one}\n\n`).join('');
  return new Response(inPieces(Buffer.from(text), model, signal), {
    headers: { 'content-type': 'text/event-stream' },
  });
}

function refusal(
  status: number,
  message: string,
  code: string | null,
  param?: string,
  headers = {},
): Response {
  const error = { message, type: 'invalid_request_error', param: param ?? null, code };
  return Response.json({ error }, { status, headers });
}

if (import.meta.main) {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    maxRequestBodySize: 1e9,
    fetch: answer,
  });
  console.log(server.port);
}
