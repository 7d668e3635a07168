import { fail } from '../../../src/errors/app-error.ts';
import { release } from './memory.ts';

/** A body as it is, not larger than a limit. Its bytes hold until the next are asked for. Errors: body_too_large. */
export async function* limited(
  body: ReadableStream<Uint8Array> | null,
  limit: number,
): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const bytes of body ?? []) {
    length += bytes.length;
    if (length > limit) throw fail('body_too_large', { limit });
    yield bytes;
    release(bytes);
  }
}
