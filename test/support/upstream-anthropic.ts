import { brokenAfterAll } from './fake-provider.ts';
import type { Seen, TestUpstream } from './upstream.ts';

/** A provider of the Messages dialect, in its own process. */
export type TestMessagesUpstream = Pick<TestUpstream, 'url' | 'resetUrl' | 'apiKey' | 'seen' | 'stop'>;

import { countTokens, event, eventsFor, type FakeMessage, messageFor } from './upstream-anthropic-answer.ts';
import {
  type FakeMessagesRequest,
  type Json,
  Refusal,
  readCountRequest,
  readMessagesRequest,
} from './upstream-anthropic-rules.ts';

/** Models of the upstream that misbehave, by name; every other name answers. */
export const MESSAGES_MISBEHAVIOURS = {
  overloaded: '529',
  'overloaded-at-once': 'an error as the first event after the start',
  'overloaded-midstream': 'an error in the middle of the events',
  'fails-midstream': 'breaks the connection in the middle of an event, or of a whole answer',
  'ends-early': 'ends its stream without saying that the message is over',
  hangs: 'never answers',
  'hangs-midstream': 'falls silent in the middle',
  trickles: 'sends a byte a millisecond',
  'rate-limited': '429 with Retry-After',
  'wants-another-key': '401 that repeats the key',
  broken: '500',
  page: '200 as a page',
  refuses: 'a refusal',
  pauses: 'pause_turn',
  'fills-window': 'model_context_window_exceeded',
  redacts: 'thinks, and hides a part of it',
} as const;

const MODELS = [
  'claude-opus-4-8',
  'claude-opus-5-5',
  'claude-sonnet-4-5',
  'claude-3-5-haiku-20241022',
  ...Object.keys(MESSAGES_MISBEHAVIOURS),
];
const API_KEY = 'sk-ant-test-upstream-0123456789';
const PAGE = 4;

/** Starts a provider of the Messages dialect on a free port, in its own process, speaking the real wire format. */
export async function startMessagesUpstream(): Promise<TestMessagesUpstream> {
  const child = Bun.spawn([process.execPath, 'run', import.meta.path], { stdout: 'pipe', stderr: 'ignore' });
  const line = await child.stdout.getReader().read();
  const [port, resetPort] = new TextDecoder().decode(line.value).trim().split(' ');
  const origin = `http://127.0.0.1:${port}`;
  return {
    url: `${origin}/v1`,
    resetUrl: `http://127.0.0.1:${resetPort}/v1`,
    apiKey: API_KEY,
    seen: async () => (await (await fetch(`${origin}/seen`)).json()) as Seen,
    async stop() {
      child.kill();
      await child.exited;
    },
  };
}

const seen = { count: 0, left: 0, lists: 0, lastBody: {}, lastHeaders: {} };

async function answer(request: Request): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  if (pathname === '/seen') return Response.json(seen);
  if (request.headers.get('x-api-key') !== API_KEY)
    return failure(401, 'authentication_error', 'invalid x-api-key');
  if (pathname === '/v1/models') return list(searchParams.get('after_id'));
  if (request.method === 'POST' && pathname === '/v1/messages') return create(request);
  if (request.method === 'POST' && pathname === '/v1/messages/count_tokens') return count(request);
  return failure(404, 'not_found_error', 'Not found');
}

function list(after: string | null): Response {
  seen.lists++;
  const from = after === null ? 0 : MODELS.indexOf(after) + 1;
  const data = MODELS.slice(from, from + PAGE).map((id) => ({
    type: 'model',
    id,
    display_name: id,
    created_at: '2026-01-02T03:04:05Z',
  }));
  return Response.json({
    data,
    has_more: from + PAGE < MODELS.length,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  });
}

async function count(request: Request): Promise<Response> {
  return refusing(async () => {
    const body = readCountRequest((await request.json()) as Json, request.headers.get('anthropic-version'));
    return Response.json({ input_tokens: countTokens(body) });
  });
}

async function create(request: Request): Promise<Response> {
  return refusing(async () => {
    const given = (await request.json()) as Json;
    seen.count++;
    seen.lastBody = given;
    seen.lastHeaders = Object.fromEntries(request.headers);
    request.signal.addEventListener('abort', () => seen.left++);
    const misbehaviour = await misbehave(String(given.model), request);
    if (misbehaviour) return misbehaviour;
    const body = readMessagesRequest(given, request.headers.get('anthropic-version'));
    const message = messageFor(body);
    const headers = {
      'request-id': 'req_up_1',
      'anthropic-ratelimit-requests-remaining': '59',
      'set-cookie': 'a=b',
    };
    if (!body.stream && body.model === 'fails-midstream') return brokenOff(message);
    if (!body.stream) return Response.json(message, { headers });
    return new Response(stream(body, message, request.signal), {
      headers: { ...headers, 'content-type': 'text/event-stream; charset=utf-8' },
    });
  });
}

async function refusing(work: () => Promise<Response>): Promise<Response> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refusal) return failure(400, 'invalid_request_error', error.message);
    throw error;
  }
}

async function misbehave(model: string, request: Request): Promise<Response | undefined> {
  switch (model) {
    case 'hangs':
      await new Promise((resolve) => request.signal.addEventListener('abort', resolve));
      return new Response(null, { status: 499 });
    case 'overloaded':
      return failure(529, 'overloaded_error', 'Overloaded');
    case 'rate-limited':
      return failure(429, 'rate_limit_error', 'This request would exceed your rate limit', {
        'retry-after': '7',
      });
    case 'wants-another-key':
      return failure(401, 'authentication_error', `the key ${API_KEY} is not good`);
    case 'broken':
      return failure(500, 'api_error', `something broke with ${API_KEY}`);
    case 'page':
      return new Response('<h1>Welcome</h1>', { headers: { 'content-type': 'text/html' } });
    default:
      return undefined;
  }
}

function failure(
  status: number,
  type: string,
  message: string,
  headers: Record<string, string> = {},
): Response {
  return Response.json(
    { type: 'error', error: { type, message }, request_id: 'req_up_1' },
    { status, headers },
  );
}

function brokenOff(message: FakeMessage): Response {
  const pieces = [JSON.stringify(message).slice(0, 20)];
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

/** The events of an answer, cut at bytes that have nothing to do with where events end. */
function stream(
  body: FakeMessagesRequest,
  message: FakeMessage,
  signal: AbortSignal,
): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(eventsOf(body.model, message).join(''));
  const half = Math.floor(bytes.length / 2);
  let sent = 0;
  let step = 7;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (body.model === 'fails-midstream' && sent >= half) return controller.error(await brokenAfterAll());
      if (body.model === 'hangs-midstream' && sent >= half)
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      if (sent >= bytes.length || signal.aborted) return controller.close();
      step = body.model === 'trickles' ? 1 : ((step * 37) % 401) + 1;
      controller.enqueue(bytes.slice(sent, sent + step));
      sent += step;
      if (body.model in MESSAGES_MISBEHAVIOURS) await Bun.sleep(1);
    },
  });
}

function eventsOf(model: string, message: FakeMessage): string[] {
  const events = eventsFor(message);
  const overload = event({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } });
  if (model === 'overloaded-at-once') return [...events.slice(0, 2), overload];
  if (model === 'overloaded-midstream') return [...events.slice(0, 5), overload];
  return model === 'ends-early' ? events.slice(0, -2) : events;
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
