import { createHash, createVerify, generateKeyPairSync } from 'node:crypto';
import {
  type FakeCall,
  type FakeProvider,
  hang,
  inPieces,
  note,
  seen,
  serveFake,
  startFake,
} from './fake-provider.ts';
import { answerGemini, eventsOf, type GeminiAsk, vectorOf } from './upstream-gemini-answer.ts';
import { complaintOf, GeminiRefusal } from './upstream-gemini-rules.ts';

/** A fake of the Gemini API and of Vertex AI. */
export interface TestGemini extends FakeProvider {
  /** Base URL of the Gemini API. */
  readonly url: string;
  readonly apiKey: string;
  /** Base URL of Vertex AI, its project and location, and the JSON of a service account. */
  readonly vertexUrl: string;
  readonly project: string;
  readonly location: string;
  readonly serviceAccount: string;
  /** What `gcloud auth application-default login` writes. */
  readonly user: string;
}

const API_KEY = 'AIzaTestKey-0123456789';
const PROJECT = 'test-project';
const LOCATION = 'europe-west4';
const REFRESH_TOKEN = '1//refresh';
const EMAIL = 'svc@test-project.iam.gserviceaccount.com';

/** Starts one on a free port. */
export async function startGemini(): Promise<TestGemini> {
  const fake = await startFake(import.meta.path);
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  await fetch(`${fake.origin}/trust`, { method: 'POST', body: pem });
  const serviceAccount = JSON.stringify({
    type: 'service_account',
    project_id: PROJECT,
    private_key_id: 'k1',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    client_email: EMAIL,
    token_uri: `${fake.origin}/token`,
  });
  return {
    ...fake,
    url: `${fake.origin}/v1beta`,
    apiKey: API_KEY,
    vertexUrl: `${fake.origin}/v1`,
    project: PROJECT,
    location: LOCATION,
    serviceAccount,
    user: JSON.stringify({
      type: 'authorized_user',
      client_id: 'id',
      client_secret: 'secret',
      refresh_token: REFRESH_TOKEN,
      token_uri: `${fake.origin}/token`,
    }),
  };
}

const MODELS = ['gemini-2.5-flash', 'gemini-3-pro-preview', 'gemini-embedding-001'];
const trusted: string[] = [];
const given = new Set<string>();

async function answer(call: FakeCall): Promise<Response> {
  const { pathname } = call.url;
  if (pathname === '/trust') return new Response(String(trusted.push(call.text)));
  if (pathname === '/token') return token(call);
  const refusal = refusedKey(call);
  if (refusal) return refusal;
  if (pathname === '/v1beta/models') return Response.json(listPage(call.url));
  if (pathname === '/v1beta1/publishers/google/models')
    return Response.json({
      publisherModels: MODELS.map((id) => ({ name: `publishers/google/models/${id}` })),
    });
  if (pathname === '/v1beta1/publishers/anthropic/models')
    return Response.json({ publisherModels: [{ name: 'publishers/anthropic/models/claude-test' }] });
  const path =
    /^\/v1beta\/models\/([^/:]+):(\w+)$/.exec(pathname) ??
    new RegExp(
      `^/v1/projects/${PROJECT}/locations/${LOCATION}/publishers/(?:google|anthropic)/models/([^/:]+):(\\w+)$`,
    ).exec(pathname);
  if (!path) return failure(404, 'NOT_FOUND', 'Requested entity was not found.');
  note(call);
  return callModel(decodeURIComponent(path[1] ?? ''), path[2] ?? '', call);
}

/** Two pages, so that who reads only the first misses models. */
function listPage(url: URL): object {
  const entry = (id: string, ...methods: string[]) => ({
    name: `models/${id}`,
    supportedGenerationMethods: methods,
  });
  if (url.searchParams.get('pageToken') === 'second')
    return {
      models: [
        entry('gemini-3-pro-preview', 'generateContent'),
        entry('gemini-embedding-001', 'embedContent'),
      ],
    };
  return {
    models: [entry('gemini-2.5-flash', 'generateContent'), entry('veo-test', 'predictLongRunning')],
    nextPageToken: 'second',
  };
}

function refusedKey({ url, headers }: FakeCall): Response | undefined {
  if (url.searchParams.has('key')) return failure(400, 'INVALID_ARGUMENT', 'No key in the address, please.');
  if (url.pathname.startsWith('/v1beta/')) {
    const key = headers.get('x-goog-api-key');
    if (key === API_KEY) return undefined;
    const reason = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' };
    return failure(400, 'INVALID_ARGUMENT', `API key not valid: ${key}`, [reason]);
  }
  const bearer = headers.get('authorization')?.replace('Bearer ', '') ?? '';
  return given.has(bearer)
    ? undefined
    : failure(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.');
}

/** RFC 7523: the assertion is signed by the key that is trusted, for this address, and still good. */
function token(call: FakeCall): Response {
  const form = new URLSearchParams(call.text);
  const [head = '', body = '', signature = ''] = (form.get('assertion') ?? '').split('.');
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString() || '{}');
  const bad = (error_description: string) =>
    Response.json({ error: 'invalid_grant', error_description }, { status: 400 });
  if (form.get('grant_type') === 'refresh_token')
    return form.get('refresh_token') === REFRESH_TOKEN ? give('user') : bad('Token has been revoked.');
  if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer') return bad('grant_type');
  const isSigned = trusted.some((pem) =>
    createVerify('RSA-SHA256').update(`${head}.${body}`).verify(pem, Buffer.from(signature, 'base64url')),
  );
  if (!isSigned) return bad('Invalid JWT Signature.');
  if (claims.iss !== EMAIL || claims.aud !== call.url.href) return bad('Invalid JWT: iss or aud.');
  if (claims.exp - claims.iat > 3600 || claims.exp < Date.now() / 1000) return bad('Invalid JWT: exp.');
  if (!String(claims.scope).includes('cloud-platform')) return bad('Invalid scope.');
  return give(signature);
}

function give(seed: string): Response {
  seen.tokens++;
  const access_token = `ya29.${createHash('sha256').update(seed).digest('hex')}`;
  given.add(access_token);
  return Response.json({ access_token, expires_in: 3599, token_type: 'Bearer' });
}

async function callModel(model: string, method: string, call: FakeCall): Promise<Response> {
  const misbehaviour = await misbehave(model, call);
  if (misbehaviour) return misbehaviour;
  try {
    if (method === 'batchEmbedContents') return Response.json(embedBatch(JSON.parse(call.text)));
    if (method === 'predict') return Response.json(predict(model, JSON.parse(call.text)));
    if (method.endsWith('awPredict')) return rawPredict(model, method, JSON.parse(call.text));
    const ask = JSON.parse(call.text) as GeminiAsk;
    complaintOf(ask, model);
    const whole = answerGemini(ask, model);
    if (method === 'generateContent') return Response.json(whole);
    if (method !== 'streamGenerateContent') throw new GeminiRefusal(`no method ${method}`);
    const bytes = new TextEncoder().encode(
      eventsOf(whole, ask, model)
        .map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`)
        .join(''),
    );
    return new Response(inPieces(bytes, model, call.signal), {
      headers: { 'content-type': 'text/event-stream' },
    });
  } catch (error) {
    if (error instanceof GeminiRefusal) return failure(400, 'INVALID_ARGUMENT', error.message);
    throw error;
  }
}

function embedBatch({
  requests,
}: {
  requests: { model?: string; content: { parts: { text: string }[] }; outputDimensionality?: number }[];
}) {
  if (requests.length > 100) throw new GeminiRefusal('at most 100 requests can be in one batch');
  if (requests.some(({ model }) => !model?.startsWith('models/')))
    throw new GeminiRefusal('model is required');
  return {
    embeddings: requests.map(({ content, outputDimensionality = 4 }) => ({
      values: vectorOf(content.parts[0]?.text ?? '', outputDimensionality),
    })),
  };
}

function predict(
  model: string,
  {
    instances,
    parameters = {},
  }: { instances: { content: string }[]; parameters?: { outputDimensionality?: number } },
) {
  if (model.startsWith('gemini-') && instances.length > 1) throw new GeminiRefusal('at most 1 instance');
  return {
    predictions: instances.map(({ content }) => ({
      embeddings: {
        values: vectorOf(content, parameters.outputDimensionality ?? 4),
        statistics: { token_count: content.split(/\s+/).length },
      },
    })),
  };
}

/** Claude on Vertex: the Messages dialect without `model` and with a version. */
function rawPredict(
  model: string,
  method: string,
  body: { anthropic_version?: string; model?: string; stream?: boolean; messages: { content: unknown }[] },
): Response {
  if (body.anthropic_version !== 'vertex-2023-10-16' || body.model !== undefined)
    throw new GeminiRefusal('anthropic_version');
  if ((method === 'streamRawPredict') !== (body.stream === true)) throw new GeminiRefusal('stream');
  const said = JSON.stringify(body.messages.at(-1)?.content);
  const text = `${model} read ${said.length}`;
  const head = { id: 'msg_1', type: 'message', role: 'assistant', model, stop_sequence: null };
  if (!body.stream)
    return Response.json({
      ...head,
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 3, output_tokens: 4 },
    });
  const events = [
    {
      type: 'message_start',
      message: { ...head, content: [], stop_reason: null, usage: { input_tokens: 3, output_tokens: 1 } },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: 4 },
    },
    { type: 'message_stop' },
  ];
  const stream = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  return new Response(stream, { headers: { 'content-type': 'text/event-stream' } });
}

async function misbehave(model: string, { signal }: FakeCall): Promise<Response | undefined> {
  const retry = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '7s' };
  switch (model) {
    case 'hangs':
      return hang(signal);
    case 'rate-limited':
      return failure(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota.', [retry]);
    case 'broken':
      return failure(503, 'UNAVAILABLE', `The model is overloaded. ${API_KEY}`);
    case 'broken-in-array':
      return new Response(
        JSON.stringify([{ error: { code: 500, message: 'An internal error.', status: 'INTERNAL' } }]),
        { status: 500 },
      );
    case 'forbids':
      return failure(403, 'PERMISSION_DENIED', 'Permission denied.');
    case 'page':
      return new Response('<h1>Welcome</h1>', { headers: { 'content-type': 'text/html' } });
    default:
      return undefined;
  }
}

function failure(code: number, status: string, message: string, details: object[] = []): Response {
  return Response.json({ error: { code, message, status, details } }, { status: code });
}

if (import.meta.main) serveFake(answer);
