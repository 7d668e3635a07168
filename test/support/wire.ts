import { connect, type Socket } from 'node:net';

/** A header as it is sent; the same name may come twice. */
export type WireHeader = readonly [name: string, value: string];

/** A request of which the test decides every byte: nothing is normalized, added or refused. */
export interface WireRequest {
  readonly method: string;
  /** What stands in the request line: a path with its query, not decoded, not tidied up. */
  readonly target: string;
  readonly headers: readonly WireHeader[];
  /** Its length is sent with it when the headers do not say how long it is. */
  readonly body?: string | Uint8Array;
  /** A success without a length is a stream that may not end: its head is the answer, and the connection ends. */
  readonly isStream?: boolean;
}

/** What came back. */
export interface WireResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

const TIMEOUT_MS = 20_000;
const HEAD_END = Buffer.from('\r\n\r\n');

interface Waiting {
  readonly request: WireRequest;
  readonly resolve: (response: WireResponse) => void;
  readonly reject: (error: Error) => void;
}

/** One HTTP/1.1 connection that is kept open and opened again when it was closed. One request at a time. */
export class Wire {
  private socket: Socket | undefined;
  private received: Buffer = Buffer.alloc(0);
  private waiting: Waiting | undefined;
  private readonly host: string;
  private readonly port: number;

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    [this.host, this.port] = [hostname, Number(port)];
  }

  /** Sends a request and waits for the whole answer. A switch to another protocol ends the connection. */
  async send(request: WireRequest): Promise<WireResponse> {
    const wasOpen = this.socket !== undefined;
    try {
      return await this.exchange(request);
    } catch (error) {
      // A server may close a connection between two requests; the request was then not taken up.
      if (wasOpen && error instanceof Closed && error.received === 0) return this.exchange(request);
      throw error;
    }
  }

  close(): void {
    this.socket?.destroy();
    this.socket = undefined;
  }

  private exchange(request: WireRequest): Promise<WireResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<WireResponse>();
    const timer = setTimeout(
      () => this.fail(new Error(`no answer to ${request.method} ${request.target}`)),
      TIMEOUT_MS,
    );
    this.waiting = { request, resolve, reject };
    this.received = Buffer.alloc(0);
    const socket = this.open();
    socket.write(encode(request));
    return promise.finally(() => clearTimeout(timer));
  }

  private open(): Socket {
    if (this.socket) return this.socket;
    const socket = connect({ host: this.host, port: this.port, noDelay: true });
    socket.on('data', (chunk: Buffer) => {
      if (this.socket !== socket) return;
      this.received = this.received.length === 0 ? chunk : Buffer.concat([this.received, chunk]);
      this.look(false);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      // One that was cut off here says so late, when the next one is in use.
      if (this.socket !== socket) return;
      this.socket = undefined;
      this.look(true);
      this.fail(new Closed(this.received.length));
    });
    this.socket = socket;
    return socket;
  }

  private look(isEnd: boolean): void {
    const { waiting } = this;
    const response = waiting && parse(this.received, waiting.request, isEnd);
    if (!waiting || !response) return;
    this.waiting = undefined;
    const { status, headers } = response;
    const isCut = waiting.request.isStream && isEndless(status, headers);
    if (headers.get('connection') === 'close' || status === 101 || isCut) this.close();
    waiting.resolve(response);
  }

  private fail(error: Error): void {
    const { waiting } = this;
    this.waiting = undefined;
    this.close();
    waiting?.reject(error);
  }
}

/** The connection was closed before an answer was whole. */
class Closed extends Error {
  constructor(readonly received: number) {
    super(`the connection was closed after ${received} bytes of an answer`);
  }
}

/** Does work on every item over several connections, in no order, and answers the results in the items' order. */
export async function overWires<T, R>(
  url: string,
  connections: number,
  items: readonly T[],
  work: (wire: Wire, item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async () => {
    const wire = new Wire(url);
    for (let i = next++; i < items.length; i = next++) results[i] = await work(wire, items[i] as T);
    wire.close();
  };
  await Promise.all(Array.from({ length: connections }, worker));
  return results;
}

function encode({ method, target, headers, body }: WireRequest): Buffer {
  const bytes = typeof body === 'string' ? Buffer.from(body) : Buffer.from(body ?? '');
  const saysLength = headers.some(([name]) => /^(content-length|transfer-encoding)$/i.test(name));
  const length: WireHeader[] =
    saysLength || body === undefined ? [] : [['content-length', String(bytes.length)]];
  const lines = [...headers, ...length].map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([
    Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1'),
    bytes,
  ]);
}

function isEndless(status: number, headers: Headers): boolean {
  return status < 300 && !headers.has('content-length');
}

/** The answer at the beginning of what was received; undefined while it is not whole. */
function parse(
  received: Buffer,
  { method, isStream }: WireRequest,
  isEnd: boolean,
): WireResponse | undefined {
  const headEnd = received.indexOf(HEAD_END);
  if (headEnd < 0) return undefined;
  const [statusLine = '', ...lines] = received.toString('latin1', 0, headEnd).split('\r\n');
  const status = Number(statusLine.split(' ')[1]);
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  const rest = received.subarray(headEnd + HEAD_END.length);
  const isCut = isStream && isEndless(status, headers);
  const isEmpty = isCut || method === 'HEAD' || status === 204 || status === 304 || status < 200;
  const body = isEmpty ? rest.subarray(0, 0) : readBody(rest, headers, isEnd);
  return body && { status, headers, text: body.toString('utf8') };
}

function readBody(rest: Buffer, headers: Headers, isEnd: boolean): Buffer | undefined {
  if (headers.get('transfer-encoding') === 'chunked') return readChunks(rest);
  const declared = headers.get('content-length');
  if (declared === null) return isEnd || headers.get('connection') === 'close' ? rest : undefined;
  return rest.length >= Number(declared) ? rest.subarray(0, Number(declared)) : undefined;
}

function readChunks(rest: Buffer): Buffer | undefined {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = rest.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(rest.toString('latin1', at, lineEnd), 16);
    const start = lineEnd + 2;
    if (rest.length < start + size + 2) return undefined;
    if (size === 0) return Buffer.concat(chunks);
    chunks.push(rest.subarray(start, start + size));
    at = start + size + 2;
  }
}
