import type { ByteSource } from '../upstream/adapter.ts';

/** The pieces that were read ahead, and then the rest of a source. */
export class ReadAhead implements ByteSource {
  private next = 0;

  constructor(
    private readonly head: readonly Uint8Array[],
    private readonly rest: ByteSource,
  ) {}

  async read(): Promise<{ done: boolean; value?: Uint8Array }> {
    return this.next < this.head.length ? { done: false, value: this.head[this.next++] } : this.rest.read();
  }

  cancel(reason?: unknown): Promise<void> {
    return this.rest.cancel(reason);
  }
}

/** Every piece of a source; leaving early cancels it. */
export async function* piecesOf(source: ByteSource): AsyncGenerator<Uint8Array> {
  let isOver = false;
  try {
    for (;;) {
      const { done, value } = await source.read();
      if (done || !value) break;
      yield value;
    }
    isOver = true;
  } finally {
    if (!isOver) await source.cancel();
  }
}
