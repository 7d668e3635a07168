import type { Socket } from 'bun';

/** A provider of chat completions that costs as little as a provider can, in a process of its own. */
export interface LightUpstream {
  readonly pid: number;
  readonly port: number;
  /** For `base_url`. */
  readonly url: string;
  /** Streams that were left by the caller before their end. */
  left(): Promise<number>;
  stop(): Promise<void>;
}

/** A model whose streams send one event a tick; all others send as fast as they can. */
export const PACED_MODEL = 'paced';
/** A model that falls silent after its first event. */
export const SILENT_MODEL = 'silent';
/** Time between two events of a paced stream, and how many there are. */
export const PACE = { tickMs: 100, events: 30 };

/** Events of a stream that are written at once, so that a stream comes in pieces. */
const EVENTS_A_WRITE = 4;
const END = Buffer.from('0\r\n\r\n');

/** Starts one on a free port of the loopback. */
export async function startLightUpstream(): Promise<LightUpstream> {
  const child = Bun.spawn([process.execPath, import.meta.path], { stdout: 'pipe' });
  const { value } = await child.stdout.getReader().read();
  const port = Number(new TextDecoder().decode(value));
  if (!port) throw new Error('the upstream does not start');
  const origin = `http://127.0.0.1:${port}`;
  return {
    pid: child.pid,
    port,
    url: `${origin}/v1`,
    left: async () => Number(await (await fetch(`${origin}/left`)).text()),
    async stop() {
      child.kill();
      await child.exited;
    },
  };
}

/** What a connection is in the middle of. */
interface Connection {
  received: Buffer;
  /** Pieces of the stream that is under way. */
  pieces: Buffer[];
  isStreaming: boolean;
}

const paced = new Set<Socket<Connection>>();
let left = 0;

function take(socket: Socket<Connection>, bytes: Buffer): void {
  const { data } = socket;
  data.received = data.received.length === 0 ? Buffer.from(bytes) : Buffer.concat([data.received, bytes]);
  const headEnd = data.received.indexOf('\r\n\r\n');
  if (headEnd < 0) return;
  const head = data.received.toString('latin1', 0, headEnd);
  const size = Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? 0);
  if (data.received.length < headEnd + 4 + size) return;
  const body = data.received.toString('utf8', headEnd + 4);
  data.received = Buffer.alloc(0);
  answer(socket, head, body);
}

function answer(socket: Socket<Connection>, head: string, body: string): void {
  const streamed = head.startsWith('GET ') ? undefined : streamFor(JSON.parse(body) as Asked);
  if (!streamed) write(socket, wholeFor(head, body));
  else {
    socket.data.isStreaming = true;
    socket.data.pieces = streamed.pieces;
    goOn(socket, streamed.model);
  }
}

function wholeFor(head: string, body: string): Buffer {
  if (head.startsWith('GET /left')) return whole('text/plain', String(left));
  if (head.startsWith('GET ')) return whole('application/json', MODELS);
  const asked = JSON.parse(body) as Asked;
  return whole('application/json', completion(asked.model, wordsFor(asked)));
}

function streamFor(asked: Asked) {
  const { model, stream, stream_options } = asked;
  if (!stream) return undefined;
  return { model, pieces: piecesOf(model, wordsFor(asked), stream_options?.include_usage === true) };
}

function wordsFor({ messages }: Asked): string[] {
  return String(messages.at(-1)?.content).split(' ').toReversed();
}

interface Asked {
  readonly model: string;
  readonly stream?: boolean;
  readonly stream_options?: { readonly include_usage?: boolean };
  readonly messages: ReadonlyArray<{ content: string }>;
}

const MODELS = JSON.stringify({
  object: 'list',
  data: ['gpt-4o', PACED_MODEL, SILENT_MODEL].map((id) => ({
    id,
    object: 'model',
    created: 1,
    owned_by: 'x',
  })),
});

function completion(model: string, words: readonly string[]): string {
  const message = { role: 'assistant', content: words.join(' ') };
  const choices = [{ index: 0, message, finish_reason: 'stop' }];
  const usage = usageOf(words);
  return JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model, choices, usage });
}

function usageOf({ length }: readonly string[]) {
  return { prompt_tokens: length, completion_tokens: length, total_tokens: 2 * length };
}

function whole(type: string, body: string): Buffer {
  return Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

function piecesOf(model: string, words: readonly string[], withUsage: boolean): Buffer[] {
  const said = model === PACED_MODEL ? Array.from({ length: PACE.events }, (_, i) => `word${i}`) : words;
  const deltas = said.map((word) => ({ index: 0, delta: { content: `${word} ` }, finish_reason: null }));
  const usage = withUsage ? eventOf(model, [], usageOf(said)) : '';
  const events = [...deltas.map((delta) => eventOf(model, [delta])), `${usage}data: [DONE]\n\n`];
  const size = model === PACED_MODEL ? 1 : EVENTS_A_WRITE;
  const pieces = Array.from({ length: Math.ceil(events.length / size) }, (_, i) => {
    const text = events.slice(i * size, (i + 1) * size).join('');
    return Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
  });
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';
  const [first = END, ...others] = pieces;
  return [Buffer.concat([Buffer.from(head), first]), ...others, END];
}

function eventOf(model: string, choices: readonly object[], usage?: object): string {
  const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model, choices, usage };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

/** Writes the next piece of a stream, and says when the one after it comes. */
function goOn(socket: Socket<Connection>, model: string): void {
  const piece = socket.data.pieces.shift();
  if (!piece) return;
  const isLast = socket.data.pieces.length === 0;
  if (isLast) socket.data.isStreaming = false;
  write(socket, piece);
  if (isLast) paced.delete(socket);
  else if (model === PACED_MODEL) paced.add(socket);
  else if (model !== SILENT_MODEL) setImmediate(() => goOn(socket, model));
}

/** Pieces are far smaller than a socket's buffer; one that does not fit would be lost. */
function write(socket: Socket<Connection>, bytes: Buffer): void {
  const written = socket.write(bytes);
  if (written >= 0 && written < bytes.length) throw new Error('a caller does not read');
}

if (import.meta.main) {
  const server = Bun.listen<Connection>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open(socket) {
        socket.data = { received: Buffer.alloc(0), pieces: [], isStreaming: false };
      },
      data: take,
      close(socket) {
        paced.delete(socket);
        if (socket.data.isStreaming) left++;
        socket.data.isStreaming = false;
      },
      error: () => {},
    },
  });
  setInterval(() => {
    for (const socket of paced) goOn(socket, PACED_MODEL);
  }, PACE.tickMs);
  console.log(server.port);
}
