import type { BoxFile } from './box-files.ts';
import { BLOCK } from './remote/batch.ts';

/** How many questions for a block are under way. */
const AHEAD = 3;

/** Which bytes of a file. */
export interface Span {
  readonly start: number;
  /** Up to here, or to the end of the file when absent. */
  readonly end?: number;
}

interface Asked {
  readonly at: number;
  readonly length: number;
  readonly bytes: Promise<Uint8Array>;
}

/** The bytes of an open file, some blocks ahead of the reader. It ends early when the file does. The file stays open. */
export async function* readBytes(file: BoxFile, { start, end }: Span): AsyncGenerator<Uint8Array> {
  const limit = end ?? Number.MAX_SAFE_INTEGER;
  const ahead: Asked[] = [];
  let position = start;
  const ask = () => {
    const length = Math.min(BLOCK, limit - position);
    const bytes = file.read(position, length);
    bytes.catch(() => undefined);
    ahead.push({ at: position, length, bytes });
    position += length;
  };
  if (position < limit) ask();
  for (let next = ahead.shift(); next; next = ahead.shift()) {
    const bytes = await next.bytes;
    if (bytes.length === 0) return;
    // Files that are made as they are read (in /proc) give less at a time: the next question begins behind it.
    if (bytes.length < next.length) {
      ahead.length = 0;
      position = next.at + bytes.length;
    }
    yield bytes;
    const most = bytes.length < next.length ? 1 : AHEAD;
    while (ahead.length < most && position < limit) ask();
  }
}

/**
 * A body of bytes that are asked for as the caller reads; the first are there when it is answered, so that what fails at once is
 * an answer of its own. `done` is called once, at the end or when the caller leaves.
 */
export async function bodyOf(
  bytes: AsyncGenerator<Uint8Array>,
  done: () => Promise<void> = async () => {},
): Promise<ReadableStream<Uint8Array>> {
  let next: Promise<IteratorResult<Uint8Array>> = bytes.next();
  try {
    await next;
  } catch (error) {
    await done();
    throw error;
  }
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done: isOver, value } = await next;
        if (isOver) {
          await done();
          return controller.close();
        }
        next = bytes.next();
        next.catch(() => undefined);
        controller.enqueue(value);
      } catch (error) {
        await done();
        controller.error(error);
      }
    },
    async cancel() {
      await bytes.return(undefined);
      await done();
    },
  });
}
