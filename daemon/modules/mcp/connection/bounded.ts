import { fail } from '../../../../src/errors/app-error.ts';

/** The largest message of a server, in bytes. */
export const MOST_MESSAGE = 16 * 1024 * 1024;

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** An answer whose body breaks off with upstream_failed when a message in it is too large; events are counted each by itself. */
export function bounded(response: Response, most = MOST_MESSAGE): Response {
  if (!response.body) return response;
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  const count = isStream ? eventCounter() : totalCounter();
  const body = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        if (count(chunk) <= most) controller.enqueue(chunk);
        else controller.error(tooLarge(most));
      },
    }),
  );
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
}

/** The error of a message that is too large. */
export function tooLarge(most = MOST_MESSAGE): Error {
  return fail('upstream_failed', { message: `The server sent a message of more than ${most} bytes.` });
}

function totalCounter(): (chunk: Uint8Array) => number {
  let size = 0;
  return (chunk) => {
    size += chunk.length;
    return size;
  };
}

/** Counts bytes since the last empty line, which ends an event (WHATWG HTML, 9.2.6). */
function eventCounter(): (chunk: Uint8Array) => number {
  let size = 0;
  let largest = 0;
  let lineIsEmpty = true;
  return (chunk) => {
    largest = 0;
    for (let at = 0; at < chunk.length; ) {
      const end = chunk.indexOf(LINE_FEED, at);
      const stop = end === -1 ? chunk.length : end;
      lineIsEmpty &&= stop === at || (stop === at + 1 && chunk[at] === CARRIAGE_RETURN);
      size += end === -1 ? stop - at : stop - at + 1;
      largest = Math.max(largest, size);
      if (end === -1) break;
      if (lineIsEmpty) size = 0;
      lineIsEmpty = true;
      at = end + 1;
    }
    return largest;
  };
}
