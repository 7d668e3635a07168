const NEWLINE = 0x0a;
/** Characters of a line that are shown. */
const MOST_LINE = 2_000;
/** Bytes of the lines of one answer: below what a result may have, so that nothing is cut out of its middle. */
const MOST_BYTES = 28 * 1024;
/** How far a file is read to know how many lines it has. */
const COUNTED_BYTES = 64 * 1024 * 1024;

/** Lines of a text with their numbers, from `offset` on, and where to go on. The text is read once and not kept. */
export async function windowOf(
  bytes: AsyncIterable<Uint8Array>,
  offset: number,
  limit: number,
): Promise<string> {
  const window = new LineWindow(offset, limit);
  for await (const part of bytes) if (!window.take(part)) break;
  return window.end();
}

class LineWindow {
  private readonly shown: string[] = [];
  private shownBytes = 0;
  private line = 1;
  private read = 0;
  private isFull = false;
  private isAll = true;
  /** What of the line that is being read has come; only as much as is shown. */
  private rest: Buffer = Buffer.alloc(0);
  private restLength = 0;

  constructor(
    private readonly offset: number,
    private readonly limit: number,
  ) {}

  /** Takes bytes; false when no more are needed. */
  take(part: Uint8Array): boolean {
    let at = 0;
    for (let end = part.indexOf(NEWLINE); end >= 0; end = part.indexOf(NEWLINE, at)) {
      this.append(part.subarray(at, end));
      this.finishLine();
      at = end + 1;
    }
    this.append(part.subarray(at));
    this.read += part.length;
    this.isAll = !this.isFull || this.read < COUNTED_BYTES;
    return this.isAll;
  }

  end(): string {
    if (this.restLength > 0) this.finishLine();
    const total = this.line - 1;
    if (total === 0) return '(the file is empty)';
    if (this.shown.length === 0) return `(the file has ${total} lines; there is no line ${this.offset})`;
    const last = this.offset + this.shown.length - 1;
    const known = this.isAll ? String(total) : `more than ${total}`;
    const next = last < total ? `; go on with offset ${last + 1}` : '';
    return `${this.shown.join('\n')}\n(lines ${this.offset}-${last} of ${known}${next})`;
  }

  private get isWanted(): boolean {
    return !this.isFull && this.line >= this.offset;
  }

  private append(bytes: Uint8Array): void {
    this.restLength += bytes.length;
    const room = MOST_LINE * 4 - this.rest.length;
    if (this.isWanted && room > 0) this.rest = Buffer.concat([this.rest, bytes.subarray(0, room)]);
  }

  private finishLine(): void {
    if (this.isWanted) this.show();
    this.rest = Buffer.alloc(0);
    this.restLength = 0;
    this.line++;
  }

  private show(): void {
    const text = this.rest.toString('utf8').replace(/\r$/, '');
    const isLong = text.length > MOST_LINE || this.restLength > this.rest.length;
    const cut = isLong ? `${text.slice(0, MOST_LINE)}... (${this.restLength} bytes in this line)` : text;
    const shown = `${String(this.line).padStart(6)}\t${cut}`;
    this.shownBytes += Buffer.byteLength(shown) + 1;
    this.isFull = this.shown.length >= this.limit || (this.shown.length > 0 && this.shownBytes > MOST_BYTES);
    if (!this.isFull) this.shown.push(shown);
  }
}
