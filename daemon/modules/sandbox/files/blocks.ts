import { RequestMemory } from './remote/request-memory.ts';

/** As much of a content as travels in one round trip: the first bytes of its memory, which is whose the block is. */
export interface Block {
  readonly memory: RequestMemory;
  readonly length: number;
}

/** A content in blocks, all of them full but the last. Its bytes need to hold only until the next are asked for. */
export async function* blocksOf(content: AsyncIterable<Uint8Array>): AsyncGenerator<Block> {
  let memory = RequestMemory.take();
  let length = 0;
  for await (const bytes of content) {
    for (let at = 0; at < bytes.length; ) {
      const part = bytes.subarray(at, at + memory.contents.length - length);
      memory.contents.set(part, length);
      length += part.length;
      at += part.length;
      if (length < memory.contents.length) continue;
      yield { memory, length };
      memory = RequestMemory.take();
      length = 0;
    }
  }
  if (length > 0) yield { memory, length };
  else memory.giveBack();
}
