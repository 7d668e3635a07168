/** Remembers the last bytes of what passes. */
export class Tail {
  private readonly pieces: Uint8Array[] = [];
  private held = 0;

  constructor(private readonly most = 16 * 1024) {}

  /** A piece has passed. */
  push(piece: Uint8Array): void {
    const last = piece.byteLength > this.most ? piece.slice(-this.most) : piece;
    this.pieces.push(last);
    this.held += last.byteLength;
    for (
      let first = this.pieces[0];
      first && this.held - first.byteLength >= this.most;
      first = this.pieces[0]
    ) {
      this.held -= first.byteLength;
      this.pieces.shift();
    }
  }

  /** The last bytes as text, the first of them perhaps a part of a letter. */
  text(): string {
    return Buffer.concat(this.pieces).toString();
  }
}
