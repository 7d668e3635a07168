const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENS = [0x7b, 0x5b];
const CLOSES = [0x7d, 0x5d];

/** Watches a JSON object come in pieces, and knows when its last brace has come. Each character is looked at once. */
export class JsonEnd {
  private depth = 0;
  private inText = false;
  private isEscaped = false;
  private hasBegun = false;

  /** Whether the object is whole, after which nothing can come. */
  get isComplete(): boolean {
    return this.hasBegun && this.depth === 0;
  }

  add(piece: string): void {
    for (let i = 0; i < piece.length; i++) this.take(piece.charCodeAt(i));
  }

  private take(char: number): void {
    if (this.isEscaped) this.isEscaped = false;
    else if (this.inText) {
      if (char === BACKSLASH) this.isEscaped = true;
      else if (char === QUOTE) this.inText = false;
    } else if (char === QUOTE) this.inText = true;
    else if (OPENS.includes(char)) {
      this.depth++;
      this.hasBegun = true;
    } else if (CLOSES.includes(char)) this.depth--;
  }
}
