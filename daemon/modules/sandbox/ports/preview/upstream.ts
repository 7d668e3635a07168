import {
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
  request as startRequest,
} from 'node:http';
import type { BoxAgent, BoxTarget } from './agent.ts';
import { framing } from './headers.ts';
import type { Passage } from './passage.ts';

/** Headers of an answer may be this long. */
const MAX_HEADER_BYTES = 64 * 1024;
/** Requests that may be sent again when a kept connection turns out to be closed (RFC 9110, 9.2.2). */
const REPEATABLE = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE']);
/** An answer that waits to be read by the browser; above it the sandbox is held back. */
const HIGH_WATER = 256 * 1024;
/** A body of a known length up to this is waited for, this many milliseconds. */
const SMALL_BYTES = 64 * 1024;
const SMALL_MS = 5;

/** A request as it goes to a port. */
export interface Outgoing {
  readonly target: BoxTarget;
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly request: Request;
  readonly passage: Passage;
}

/**
 * Sends a request to a port and answers when the head of the answer is there. Bodies flow both ways as fast as the
 * slower end. Errors: those of `dial`, and of node:http for what is no HTTP.
 */
export async function exchange(agent: BoxAgent, outgoing: Outgoing): Promise<IncomingMessage> {
  const { request, method, passage } = outgoing;
  const { body } = request;
  for (;;) {
    const sent = start(agent, outgoing);
    const answer = answerOf(sent, outgoing);
    const sending = body ? send(body, sent) : endOf(sent);
    sending.catch((error) => sent.destroy(error instanceof Error ? error : undefined));
    try {
      return await answer;
    } catch (error) {
      const isStale = sent.reusedSocket && !body && REPEATABLE.has(method) && !passage.isOver;
      if (!isStale) throw error;
    }
  }
}

/**
 * The body of an answer: as a whole when it is small and there already, which spares most answers a stream, else read
 * only as fast as it is taken. `over` is called once, when it ended or was left.
 */
export async function bodyOf(
  message: IncomingMessage,
  over: () => void,
): Promise<Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>> {
  const early: Buffer[] = [];
  const length = Number(message.headers['content-length'] ?? Number.NaN);
  if (length <= SMALL_BYTES) await arrival(message, early);
  if (!message.readableEnded) return flow(message, early, over);
  over();
  return Buffer.concat(early);
}

/** Collects what comes until the end, or for a moment. */
function arrival(message: IncomingMessage, early: Buffer[]): Promise<void> {
  return new Promise((resolve) => {
    const take = (bytes: Buffer) => early.push(bytes);
    const done = () => {
      clearTimeout(timer);
      message.off('data', take).off('end', done).off('close', done).pause();
      resolve();
    };
    const timer = setTimeout(done, SMALL_MS);
    message.on('data', take).once('end', done).once('close', done);
  });
}

function flow(
  message: IncomingMessage,
  early: readonly Buffer[],
  over: () => void,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        for (const bytes of early) controller.enqueue(bytes);
        if (message.destroyed && !message.readableEnded) {
          over();
          return failQuietly(controller);
        }
        message.on('data', (bytes: Buffer) => {
          controller.enqueue(bytes);
          if ((controller.desiredSize ?? 0) <= 0) message.pause();
        });
        message.once('end', () => {
          over();
          controller.close();
        });
        message.once('close', () => {
          over();
          if (!message.readableEnded) failQuietly(controller);
        });
        message.pause();
      },
      pull: () => {
        message.resume();
      },
      cancel() {
        message.destroy();
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: HIGH_WATER }),
  );
}

function start(agent: BoxAgent, { target, method, path, headers, request }: Outgoing): ClientRequest {
  const options: RequestOptions & BoxTarget = {
    sandboxId: target.sandboxId,
    port: target.port,
    agent,
    method,
    path,
    headers: { ...headers, ...framing(request) },
    setHost: false,
    maxHeaderSize: MAX_HEADER_BYTES,
  };
  return startRequest(options);
}

function answerOf(sent: ClientRequest, { request, passage }: Outgoing): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const leave = () => passage.end();
    request.signal.addEventListener('abort', leave, { once: true });
    sent.once('close', () => request.signal.removeEventListener('abort', leave));
    sent.once('response', (message) => {
      // That it breaks off is seen by its close; without a listener the error would end the program.
      message.on('error', () => undefined);
      resolve(message);
    });
    sent.once('upgrade', (_, socket) => {
      socket.destroy();
      reject(new Error('an upgrade that was not asked for'));
    });
    sent.on('error', reject);
    passage.endWith(() => sent.destroy(new Error('the visit has ended')));
    if (request.signal.aborted) leave();
  });
}

async function endOf(sent: ClientRequest): Promise<void> {
  sent.end();
}

async function send(body: ReadableStream<Uint8Array>, sent: ClientRequest): Promise<void> {
  for await (const bytes of body) {
    if (sent.destroyed) return;
    if (!sent.write(bytes)) await drained(sent);
  }
  sent.end();
}

function drained(sent: ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      sent.off('drain', done).off('close', done);
      resolve();
    };
    sent.once('drain', done).once('close', done);
  });
}

/** A cut answer ends the browser's connection without its proper end, so that it is not taken for whole. */
function failQuietly(controller: ReadableStreamDefaultController<Uint8Array>): void {
  try {
    controller.error(new Error('the answer was cut off'));
  } catch {
    // It was left already.
  }
}
