/** One server-sent event (WHATWG HTML, 9.2). `data` is sent as JSON. */
export interface ServerEvent {
  readonly data: unknown;
  /** Where a reader that lost the connection goes on (`Last-Event-ID`). */
  readonly id?: string | number;
  readonly event?: string;
}

/** How a stream behaves. */
export interface SseOptions {
  /** Aborted when the reader leaves. */
  readonly signal: AbortSignal;
  readonly headers?: Headers;
  /** Milliseconds of silence after which a heartbeat is sent. */
  readonly heartbeatMs?: number;
  /** The heartbeat; a comment when it is absent or answers nothing. */
  readonly heartbeat?: () => ServerEvent | undefined;
  /** Sends a comment at once: the head of an answer leaves with its first bytes, and a quiet source may have none for long. */
  readonly greets?: true;
  /** Makes the last event of a source that broke; without it the connection is cut. */
  readonly failure?: (error: unknown) => ServerEvent;
}

const HEARTBEAT_MS = 15_000;
const encoder = new TextEncoder();

/**
 * Answers a stream of events. Events are taken from the source only as fast as the reader reads;
 * when the reader leaves, the source's `return` is called.
 */
export function sse(source: AsyncIterable<ServerEvent>, options: SseOptions): Response {
  const iterator = source[Symbol.asyncIterator]();
  const end = once(() => void iterator.return?.());
  options.signal.addEventListener('abort', end, { once: true });
  let pending: Promise<IteratorResult<ServerEvent>> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      if (options.greets) controller.enqueue(encoder.encode(': open\n\n'));
    },
    async pull(controller) {
      pending ??= iterator.next();
      if (options.failure)
        pending = pending.catch((error) => ({ done: true, value: options.failure?.(error) }));
      const result = await withHeartbeat(pending, options.heartbeatMs ?? HEARTBEAT_MS);
      if (result === 'silence') {
        const heartbeat = options.heartbeat?.();
        controller.enqueue(heartbeat ? encodeEvent(heartbeat) : encoder.encode(': ping\n\n'));
        return;
      }
      pending = undefined;
      if (result.value) controller.enqueue(encodeEvent(result.value));
      if (result.done) controller.close();
    },
    cancel: end,
  });
  const headers = new Headers(options.headers);
  headers.set('content-type', 'text/event-stream; charset=utf-8');
  headers.set('cache-control', 'no-cache, no-transform');
  headers.set('x-accel-buffering', 'no');
  return new Response(body, { headers });
}

function encodeEvent({ data, id, event }: ServerEvent): Uint8Array {
  const head = `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}`;
  return encoder.encode(`${head}data: ${JSON.stringify(data)}\n\n`);
}

async function withHeartbeat<T>(next: Promise<T>, silenceMs: number): Promise<T | 'silence'> {
  let timer: Timer | undefined;
  const silence = new Promise<'silence'>((resolve) => {
    timer = setTimeout(() => resolve('silence'), silenceMs);
  });
  try {
    return await Promise.race([next, silence]);
  } finally {
    clearTimeout(timer);
  }
}

function once(action: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    action();
  };
}
