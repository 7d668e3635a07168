import { brokenAfterAll } from './fake-provider.ts';
import { completionEvents, type FakeRequest, vectorFor, wholeCompletion } from './upstream-answer.ts';
import {
  type FakeResponseRequest,
  refusalOf,
  responseEvents,
  wholeResponse,
} from './upstream-responses-answer.ts';

/** A model provider for tests: its own process, speaking the chat-completions dialect over real sockets. */
export interface TestUpstream {
  /** For `base_url`. */
  readonly url: string;
  /** As `url`, but every connection is reset. */
  readonly resetUrl: string;
  /** As `url`, but models cannot be listed. */
  readonly unlistedUrl: string;
  /** As `url`, but it has chat completions only, and no responses. */
  readonly chatOnlyUrl: string;
  /** The key that it wants. */
  readonly apiKey: string;
  /** Another key that is as good. */
  readonly secondApiKey: string;
  /** What it has seen. */
  seen(): Promise<Seen>;
  stop(): Promise<void>;
}

/** What a test upstream has seen since it started. */
export interface Seen {
  /** Completions that were asked for. */
  readonly count: number;
  /** How many of them were left by the caller before the end. */
  readonly left: number;
  /** How many times models were listed. */
  readonly lists: number;
  /** Of the last completion or response. */
  readonly lastPath: string;
  readonly lastBody: Readonly<Record<string, unknown>>;
  readonly lastHeaders: Readonly<Record<string, string>>;
}

/** Models of the upstream that misbehave, by name; every other name answers. */
export const MISBEHAVIOURS = {
  'fails-midstream': 'breaks the connection in the middle of an event, or of a whole answer',
  hangs: 'never answers',
  'hangs-midstream': 'falls silent after three words',
  trickles: 'sends a byte a millisecond',
  'rate-limited': '429 with Retry-After',
  'bad-request': '400 in the dialect',
  'wants-another-key': '401 that repeats the key',
  forbids: '403',
  broken: '500 in the dialect',
  lost: '404 as a page',
  page: '200 as a page',
  moved: 'a redirect',
} as const;

const MODELS = ['gpt-test', 'gpt-test-mini', ...Object.keys(MISBEHAVIOURS)];
const API_KEY = 'sk-test-upstream-0123456789';
const SECOND_API_KEY = 'sk-test-upstream-9876543210';

/** Starts one on a free port. */
export async function startUpstream(): Promise<TestUpstream> {
  const child = Bun.spawn([process.execPath, 'run', import.meta.path], { stdout: 'pipe', stderr: 'ignore' });
  const line = await child.stdout.getReader().read();
  const [port, resetPort] = new TextDecoder().decode(line.value).trim().split(' ');
  const origin = `http://127.0.0.1:${port}`;
  return {
    url: `${origin}/v1`,
    unlistedUrl: `${origin}/unlisted/v1`,
    chatOnlyUrl: `${origin}/chat-only/v1`,
    resetUrl: `http://127.0.0.1:${resetPort}/v1`,
    apiKey: API_KEY,
    secondApiKey: SECOND_API_KEY,
    seen: async () => (await (await fetch(`${origin}/seen`)).json()) as Seen,
    async stop() {
      child.kill();
      await child.exited;
    },
  };
}

const seen = { count: 0, left: 0, lists: 0, lastPath: '', lastBody: {}, lastHeaders: {} };

async function answer(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (pathname === '/seen') return Response.json(seen);
  if (
    ![API_KEY, SECOND_API_KEY].includes(request.headers.get('authorization')?.slice('Bearer '.length) ?? '')
  )
    return failure(401, 'no key', 'invalid_api_key');
  if (pathname === '/v1/models') {
    seen.lists++;
    return Response.json({
      object: 'list',
      data: MODELS.map((id) => ({ id, object: 'model', created: 1_700_000_000, owned_by: 'test' })),
    });
  }
  if (pathname.endsWith('/chat/completions')) return complete(request);
  if (pathname === '/v1/responses') return respond(request);
  if (pathname === '/v1/embeddings') return embed(request);
  return failure(pathname.endsWith('/models') ? 500 : 404, 'no such place', null);
}

function note(request: Request, body: object): void {
  seen.count++;
  seen.lastPath = new URL(request.url).pathname;
  seen.lastBody = body;
  seen.lastHeaders = Object.fromEntries(request.headers);
  request.signal.addEventListener('abort', () => seen.left++);
}

async function respond(request: Request): Promise<Response> {
  const body = (await request.json()) as FakeResponseRequest;
  note(request, body);
  const misbehaviour = await misbehave(body.model, request);
  if (misbehaviour) return misbehaviour;
  const refusal = refusalOf(body);
  if (refusal) return failure(refusal.status, refusal.message, 'invalid_value');
  if (!body.stream) return Response.json(wholeResponse(body));
  return new Response(stream(body.model, responseEvents(body), request.signal), {
    headers: { 'content-type': 'text/event-stream; charset=utf-8' },
  });
}

async function embed(request: Request): Promise<Response> {
  const body = (await request.json()) as {
    model: string;
    input: string | string[];
    encoding_format?: string;
  };
  note(request, body);
  const vectors = [body.input].flat().map(vectorFor);
  const data = vectors.map((vector, index) => ({
    object: 'embedding',
    index,
    embedding:
      body.encoding_format === 'base64'
        ? Buffer.from(new Float32Array(vector).buffer).toString('base64')
        : vector,
  }));
  const usage = { prompt_tokens: vectors.length, total_tokens: vectors.length };
  return Response.json({ object: 'list', model: body.model, data, usage });
}

async function complete(request: Request): Promise<Response> {
  const body = (await request.json()) as FakeRequest;
  note(request, body);
  const misbehaviour = await misbehave(body.model, request);
  if (misbehaviour) return misbehaviour;
  const headers = {
    'x-request-id': 'up_1',
    'openai-version': '2020-10-01',
    'set-cookie': 'a=b',
    'x-ratelimit-remaining-requests': '59',
  };
  if (!body.stream && body.model === 'fails-midstream') return brokenOff(wholeCompletion(body));
  if (!body.stream) return Response.json(wholeCompletion(body), { headers });
  return new Response(stream(body.model, completionEvents(body).join(''), request.signal), {
    headers: { ...headers, 'content-type': 'text/event-stream; charset=utf-8' },
  });
}

async function misbehave(model: string, request: Request): Promise<Response | undefined> {
  switch (model) {
    case 'hangs':
      await new Promise((resolve) => request.signal.addEventListener('abort', resolve));
      return new Response(null, { status: 499 });
    case 'rate-limited':
      return failure(429, 'slow down', 'rate_limit_exceeded', { 'retry-after': '7' });
    case 'bad-request':
      return failure(400, 'temperature is too hot', 'invalid_value');
    case 'wants-another-key':
      return failure(401, `the key ${API_KEY} is not good`, 'invalid_api_key');
    case 'forbids':
      return failure(403, `the key ${API_KEY} may not`, 'forbidden');
    case 'broken':
      return failure(500, `something broke with ${API_KEY}`, 'server_error');
    case 'lost':
      return new Response('<h1>Not found</h1>', { status: 404, headers: { 'content-type': 'text/html' } });
    case 'page':
      return new Response('<h1>Welcome</h1>', { headers: { 'content-type': 'text/html' } });
    case 'moved':
      return Response.redirect('http://127.0.0.1:1/', 302);
    default:
      return undefined;
  }
}

function failure(
  status: number,
  message: string,
  code: string | null,
  headers: Record<string, string> = {},
): Response {
  return Response.json({ error: { message, type: 'test_error', param: null, code } }, { status, headers });
}

function brokenOff(completion: object): Response {
  const pieces = [JSON.stringify(completion).slice(0, 20)];
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const piece = pieces.shift();
      if (piece === undefined) return controller.error(new Error('broken off'));
      controller.enqueue(new TextEncoder().encode(piece));
      await Bun.sleep(5);
    },
  });
  return new Response(body, { headers: { 'content-type': 'application/json' } });
}

/** Events, cut at bytes that have nothing to do with where events end. */
function stream(model: string, events: string, signal: AbortSignal): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(events);
  const half = Math.floor(bytes.length / 2);
  let sent = 0;
  let step = 7;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (model === 'fails-midstream' && sent >= half) return controller.error(await brokenAfterAll());
      if (model === 'hangs-midstream' && sent >= half)
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      if (sent >= bytes.length || signal.aborted) return controller.close();
      step = model === 'trickles' ? 1 : ((step * 37) % 101) + 1;
      controller.enqueue(bytes.slice(sent, sent + step));
      sent += step;
      if (model !== 'gpt-test') await Bun.sleep(1);
    },
  });
}

if (import.meta.main) {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, idleTimeout: 0, fetch: answer });
  const resetting = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: { data: (socket) => socket.terminate() },
  });
  console.log(`${server.port} ${resetting.port}`);
}
