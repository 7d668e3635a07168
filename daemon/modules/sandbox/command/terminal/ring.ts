/** The latest bytes of a terminal. Offsets count from its first byte. */
export class OutputRing {
  private readonly chunks: Uint8Array[] = [];
  private kept = 0;
  private total = 0;

  constructor(private readonly limit: number) {}

  /** Offset behind the last byte. */
  get end(): number {
    return this.total;
  }

  /** Offset of the oldest byte that is kept. */
  get start(): number {
    return this.total - this.kept;
  }

  push(bytes: Uint8Array): void {
    this.chunks.push(bytes.slice(-this.limit));
    this.total += bytes.length;
    this.kept += Math.min(bytes.length, this.limit);
    while (this.kept > this.limit) this.drop(this.kept - this.limit);
  }

  /** Bytes from an offset on, at most `most`, and at most what came at once. Empty at the end. */
  read(offset: number, most: number): Uint8Array {
    let at = this.start;
    for (const chunk of this.chunks) {
      if (offset < at + chunk.length) {
        const from = Math.max(offset - at, 0);
        return chunk.subarray(from, from + most);
      }
      at += chunk.length;
    }
    return new Uint8Array();
  }

  private drop(count: number): void {
    const [first] = this.chunks;
    if (!first) return;
    if (first.length <= count) this.chunks.shift();
    else this.chunks[0] = first.subarray(count);
    this.kept -= Math.min(count, first.length);
  }
}
