import { brokenAfterAll } from '../fake-provider.ts';
import { Books, type Decision, type ModelRequest } from './books.ts';
import { Violation } from './messages.ts';
import { sideAnswer } from './side-answers.ts';
import { answerEvents, tokensOf, type WireAnswer, wholeAnswer } from './wire.ts';

const books = new Books();

/** Models that misbehave whatever they are asked; `small-4000` has a context of 4000 tokens, and every other name answers. */
const MODELS = ['main', 'other', 'small-4000', 'summary', 'broken', 'limited', 'silent', 'breaking'];

async function answer(request: Request): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  if (pathname === '/seen') return Response.json(seen(searchParams.get('key')));
  if (pathname === '/effects') return Response.json(books.effects);
  if (pathname.startsWith('/effects/')) return effect(request, pathname.slice('/effects/'.length));
  if (request.headers.get('authorization') !== `Bearer ${process.argv[2]}`)
    return failure(401, 'no key', 'invalid_api_key');
  if (pathname === '/v1/models')
    return Response.json({ object: 'list', data: MODELS.map((id) => ({ id, object: 'model', created: 1 })) });
  if (pathname !== '/v1/chat/completions') return failure(404, 'no such place', null);
  return complete((await request.json()) as ModelRequest, request.signal);
}

function seen(key: string | null): object {
  if (key !== null) return books.conversation(key) ?? {};
  const { requests, refused, violations } = books;
  return { requests, refused, violations, keys: books.keys() };
}

/** The outside world: whoever calls has had an effect, and is told so as slowly as it wants. */
async function effect(request: Request, path: string): Promise<Response> {
  const body = (await request.json()) as { id: string; ms?: number };
  const idempotencyKey = request.headers.get('idempotency-key') ?? undefined;
  books.effects.push({ id: body.id, idempotencyKey, atMs: Date.now() });
  if (body.ms) await Bun.sleep(body.ms);
  return Response.json({ path, id: body.id, count: books.effects.filter(({ id }) => id === body.id).length });
}

async function complete(request: ModelRequest, signal: AbortSignal): Promise<Response> {
  const misbehaviour = await misbehave(request, signal);
  if (misbehaviour) return misbehaviour;
  const promptTokens = tokensOf(JSON.stringify(request.messages));
  const aside = sideAnswer(request);
  if (aside !== undefined)
    return given(request, { model: request.model, text: aside, calls: [], promptTokens }, signal);
  try {
    const decision = books.decide(request);
    signal.addEventListener('abort', () => books.leave(decision.root));
    if (decision.failure) return failure(decision.failure, 'as the script says', 'scripted');
    if (decision.mood === 'hangs') return silence(signal);
    await Bun.sleep(decision.manners.waitMs);
    const { text, calls } = decision;
    return given(request, { model: request.model, text, calls, promptTokens }, signal, decision);
  } catch (error) {
    if (error instanceof Violation) return failure(400, error.message, 'broken_loop');
    throw error;
  }
}

async function misbehave(
  { model, messages }: ModelRequest,
  signal: AbortSignal,
): Promise<Response | undefined> {
  if (model === 'broken') return failure(500, 'something broke', 'server_error');
  if (model === 'limited') return failure(429, 'slow down', 'rate_limit_exceeded');
  if (model === 'silent') return silence(signal);
  const context = Number(/^small-(\d+)$/.exec(model)?.[1] ?? Number.POSITIVE_INFINITY);
  if (tokensOf(JSON.stringify(messages)) <= context) return undefined;
  books.refused++;
  return failure(400, `the context of ${model} is ${context} tokens`, 'context_length_exceeded');
}

function given(
  request: ModelRequest,
  answer: WireAnswer,
  signal: AbortSignal,
  decision?: Decision,
): Response {
  const isCut = decision?.mood === 'is cut' || request.model === 'breaking';
  if (!request.stream && !isCut) return Response.json(wholeAnswer(answer));
  const events = answerEvents(answer, request.stream_options?.include_usage === true);
  const body = streamOf(events, { paceMs: decision?.manners.paceMs ?? 0, isCut, signal });
  return new Response(body, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } });
}

interface StreamManner {
  readonly paceMs: number;
  readonly isCut: boolean;
  readonly signal: AbortSignal;
}

/** Event by event when there is a pace; else bytes, cut where nothing ends. */
function streamOf(events: readonly string[], { paceMs, isCut, signal }: StreamManner): ReadableStream {
  const pieces =
    paceMs > 0 ? events.map((event) => new TextEncoder().encode(event)) : piecesOf(events.join(''));
  const end = isCut ? Math.ceil(pieces.length / 2) : pieces.length;
  let sent = 0;
  return new ReadableStream<Uint8Array>({
    async pull(sink) {
      const piece = pieces[sent++];
      if (isCut && sent > end) return sink.error(await brokenAfterAll());
      if (!piece || signal.aborted) return sink.close();
      if (paceMs > 0 && sent > 1) await Bun.sleep(paceMs);
      sink.enqueue(piece);
    },
  });
}

function piecesOf(text: string): Uint8Array[] {
  const bytes = new TextEncoder().encode(text);
  const pieces: Uint8Array[] = [];
  for (let at = 0, size = 7; at < bytes.length; at += size) {
    size = ((size * 37) % 401) + 1;
    pieces.push(bytes.subarray(at, at + size));
  }
  return pieces;
}

async function silence(signal: AbortSignal): Promise<Response> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
  return new Response(null, { status: 499 });
}

function failure(status: number, message: string, code: string | null): Response {
  return Response.json({ error: { message, type: 'scripted_error', param: null, code } }, { status });
}

if (import.meta.main) {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, idleTimeout: 0, fetch: answer });
  console.log(server.port);
}
