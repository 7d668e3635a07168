const LINE_FEED = 0x0a;
const MOST_HELD = 1024 * 1024;

/**
 * Lets bytes through up to the end of a line and holds the rest back, so that a source that breaks off leaves no
 * half event with the reader. Pieces that end with a line, as upstreams send them, pass without a copy.
 */
export class WholeLines {
  private readonly held: Uint8Array[] = [];
  private heldBytes = 0;

  /** A line that is longer than `mostHeld` bytes passes in parts. */
  constructor(private readonly mostHeld = MOST_HELD) {}

  /** What may pass now that a piece has come; undefined while its line is open. */
  take(piece: Uint8Array): Uint8Array | undefined {
    const end = piece.lastIndexOf(LINE_FEED) + 1;
    if (end === piece.byteLength && this.heldBytes === 0) return piece;
    if (end === 0 && this.heldBytes + piece.byteLength <= this.mostHeld) {
      this.hold(piece);
      return undefined;
    }
    const complete = end === 0 ? piece.byteLength : end;
    const passing = Buffer.concat([...this.held, piece.subarray(0, complete)]);
    this.forget();
    if (complete < piece.byteLength) this.hold(piece.subarray(complete));
    return passing;
  }

  /** What is left when the source has ended; undefined when it ended with a line. */
  rest(): Uint8Array | undefined {
    const rest = this.heldBytes > 0 ? Buffer.concat(this.held) : undefined;
    this.forget();
    return rest;
  }

  private hold(piece: Uint8Array): void {
    this.held.push(piece);
    this.heldBytes += piece.byteLength;
  }

  private forget(): void {
    this.held.length = 0;
    this.heldBytes = 0;
  }
}
