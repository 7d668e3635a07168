/** A fake of a provider, in a process of its own. */
export interface FakeProvider {
  readonly origin: string;
  /** What it has seen. */
  seen(): Promise<FakeSeen>;
  stop(): Promise<void>;
}

/** What a fake has seen since it started. */
export interface FakeSeen {
  /** Calls of models. */
  readonly count: number;
  /** How many of them were left by the caller before the end. */
  readonly left: number;
  /** Tokens that were given out. */
  readonly tokens: number;
  readonly lastUrl: string;
  readonly lastHeaders: Readonly<Record<string, string>>;
  readonly lastBody: unknown;
}

/** Starts a script of this folder that calls `serveFake`. */
export async function startFake(script: string): Promise<FakeProvider> {
  const child = Bun.spawn([process.execPath, 'run', script], { stdout: 'pipe', stderr: 'ignore' });
  const line = await child.stdout.getReader().read();
  const origin = `http://127.0.0.1:${new TextDecoder().decode(line.value).trim()}`;
  return {
    origin,
    seen: async () => (await (await fetch(`${origin}/seen`)).json()) as FakeSeen,
    async stop() {
      child.kill();
      await child.exited;
    },
  };
}

/** What a fake notes of calls. */
export const seen = {
  count: 0,
  left: 0,
  tokens: 0,
  lastUrl: '',
  lastHeaders: {},
  lastBody: undefined as unknown,
};

/** One call of a fake. */
export interface FakeCall {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly text: string;
  readonly signal: AbortSignal;
}

/** Serves on a free port and prints it. */
export function serveFake(answer: (call: FakeCall) => Response | Promise<Response>): void {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const url = new URL(request.url);
      if (url.pathname === '/seen') return Response.json(seen);
      const { method, headers, signal } = request;
      return answer({ url, method, headers, signal, text: await request.text() });
    },
  });
  console.log(server.port);
}

/** Notes a call of a model. */
export function note({ url, headers, signal, text }: FakeCall): void {
  seen.count++;
  seen.lastUrl = url.href;
  seen.lastHeaders = Object.fromEntries(headers);
  seen.lastBody = text === '' ? undefined : JSON.parse(text);
  signal.addEventListener('abort', () => seen.left++);
}

/** Bytes cut where nothing ends; models named so break off, fall silent or trickle in the middle. */
export function inPieces(bytes: Uint8Array, model: string, signal: AbortSignal): ReadableStream<Uint8Array> {
  const half = Math.floor(bytes.length / 2);
  let sent = 0;
  let step = 7;
  return new ReadableStream<Uint8Array>({
    async pull(sink) {
      if (model.includes('fails-midstream') && sent >= half) return sink.error(await brokenAfterAll());
      if (model.includes('ends-midstream') && sent >= half) return sink.close();
      if (model.includes('hangs-midstream') && sent >= half)
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      if (sent >= bytes.length || signal.aborted) return sink.close();
      step = model.includes('trickles') ? 1 : ((step * 37) % 101) + 1;
      sink.enqueue(bytes.slice(sent, sent + step));
      sent += step;
      if (sent % 5 === 0 || model.includes('midstream')) await Bun.sleep(1);
    },
  });
}

/** Waits until the caller leaves. */
export async function hang(signal: AbortSignal): Promise<Response> {
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
  return new Response(null, { status: 499 });
}

/** The words of a text backwards: only who has read it knows them. */
export function backwards(text: string): string[] {
  return text.split(/\s+/).filter(Boolean).toReversed();
}

/** A value that a JSON schema asks for, with a text in it. */
export function valueFor(schema: unknown, text: string): unknown {
  const {
    type,
    properties = {},
    items,
    enum: values,
  } = (schema ?? {}) as {
    type?: string;
    properties?: Record<string, unknown>;
    items?: unknown;
    enum?: unknown[];
  };
  if (values) return values[0];
  if (type === 'array') return [valueFor(items, text)];
  if (type === 'number' || type === 'integer') return text.length;
  if (type === 'boolean') return true;
  if (type !== 'object') return text;
  return Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, valueFor(inner, text)]));
}

/** Waits until what was sent was read: a reset takes along what the other end has not read yet. */
export async function brokenAfterAll(): Promise<Error> {
  await Bun.sleep(50);
  return new Error('broken off');
}
