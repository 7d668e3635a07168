import { fail, invalid } from '../../../src/errors/app-error.ts';
import { release } from './memory.ts';

/**
 * One part of a multipart body. Its content is read before the next part comes; what is left is passed over. Bytes of it hold
 * until the next are asked for.
 */
export interface Part {
  readonly name: string;
  /** The name that the sender gave the file; undefined for a plain field. */
  readonly fileName: string | undefined;
  /** The media type that the sender gave it; undefined when it gave none. */
  readonly contentType: string | undefined;
  readonly content: AsyncIterable<Uint8Array>;
}

const MAX_HEADERS = 16 * 1024;
const LINE_END = '\r\n';

/** The boundary in a Content-Type. Errors: invalid_argument. */
export function boundaryOf(contentType: string): string {
  const [, quoted, plain] =
    /^multipart\/form-data\s*;.*?\bboundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain;
  if (!boundary)
    throw invalid({ field: 'Content-Type', description: 'must be multipart/form-data with a boundary' });
  return boundary;
}

/**
 * The parts of a multipart/form-data body (RFC 7578), as they arrive: no part is kept. Searching is the platform's.
 * Errors: malformed_body, body_too_large when more than `limit` bytes come.
 */
export async function* readMultipart(
  body: ReadableStream<Uint8Array>,
  boundary: string,
  limit: number,
): AsyncGenerator<Part> {
  const source = new Source(body, limit);
  try {
    const delimiter = Buffer.from(`${LINE_END}--${boundary}`);
    // The first delimiter may stand at the very beginning, without a line before it.
    source.push(Buffer.from(LINE_END));
    await drain(source.until(delimiter));
    while (await isNext(source)) {
      const headers = await readHeaders(source);
      const content = keptOpen(source.until(delimiter));
      yield { ...describe(headers), content };
      await drain(content);
    }
    // What follows the end is counted and passed over, so that the connection can be used again.
    await source.skip();
  } finally {
    await source.cancel();
  }
}

/** After a delimiter: `--` ends the body, a line end begins a part. */
async function isNext(source: Source): Promise<boolean> {
  const mark = await source.take(2);
  if (mark === '--') return false;
  let rest = mark;
  while (rest !== LINE_END) {
    // Blanks may stand between a delimiter and the end of its line.
    if (!/^[ \t]/.test(rest)) throw broken('a boundary is followed by something else');
    rest = rest.slice(1) + (await source.take(1));
  }
  return true;
}

async function readHeaders(source: Source): Promise<string> {
  // A part without headers has its blank line at once.
  source.push(Buffer.from(LINE_END));
  let length = 0;
  const collected: Buffer[] = [];
  for await (const bytes of source.until(Buffer.from(LINE_END + LINE_END))) {
    length += bytes.length;
    if (length > MAX_HEADERS) throw broken('the headers of a part are too long');
    collected.push(Buffer.from(bytes));
  }
  return Buffer.concat(collected).toString('utf8');
}

function describe(headers: string): Omit<Part, 'content'> {
  const lines = headers.split(LINE_END);
  const line = lines.find((one) => /^content-disposition:/i.test(one)) ?? '';
  const name = parameter(line, 'name');
  if (name === undefined) throw broken('a part has no name');
  const contentType = lines
    .find((one) => /^content-type:/i.test(one))
    ?.slice('content-type:'.length)
    .trim();
  return { name, fileName: parameter(line, 'filename'), contentType };
}

function parameter(line: string, name: string): string | undefined {
  const [, quoted, plain] =
    new RegExp(`;\\s*${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s;"]+))`, 'i').exec(line) ?? [];
  return quoted?.replace(/\\(["\\])/g, '$1') ?? plain;
}

/** A loop that is left early leaves the rest to be passed over. */
function keptOpen(bytes: AsyncGenerator<Uint8Array>): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => ({ next: () => bytes.next() }) };
}

async function drain(content: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of content);
}

function broken(why: string) {
  return fail('malformed_body', { message: `The multipart body cannot be read: ${why}.` });
}

/** Bytes that arrive, looked through for marks. It holds one chunk and the length of a mark. */
class Source {
  private readonly reader: ReadableStreamDefaultReader<Uint8Array>;
  private kept: Buffer = Buffer.alloc(0);
  /** What came last: `kept` may be a part of it. */
  private arrival: Uint8Array | undefined;
  private read = 0;
  private isOver = false;

  constructor(
    body: ReadableStream<Uint8Array>,
    private readonly limit: number,
  ) {
    this.reader = body.getReader();
  }

  /** Puts bytes before what comes next. */
  push(bytes: Buffer): void {
    this.kept = Buffer.concat([bytes, this.kept]);
  }

  /** The next bytes as text. Errors: malformed_body when there are not as many. */
  async take(count: number): Promise<string> {
    while (this.kept.length < count) await this.more();
    const text = this.kept.toString('latin1', 0, count);
    this.kept = this.kept.subarray(count);
    return text;
  }

  /** The bytes before a mark. The mark itself is passed over. Once at its end, it stays there. */
  async *until(mark: Buffer): AsyncGenerator<Uint8Array> {
    for (;;) {
      const at = this.kept.indexOf(mark);
      const sure = at >= 0 ? at : this.kept.length - mark.length + 1;
      const bytes = this.kept.subarray(0, Math.max(sure, 0));
      this.kept = this.kept.subarray(at >= 0 ? at + mark.length : bytes.length);
      if (bytes.length > 0) yield bytes;
      if (at >= 0) return;
      const before = await this.moreWithout(mark);
      if (before.length > 0) yield before;
    }
  }

  /** Passes over all that is left. */
  async skip(): Promise<void> {
    while (await this.next());
  }

  async cancel(): Promise<void> {
    if (!this.isOver) await this.reader.cancel().catch(() => undefined);
  }

  /**
   * Goes on with what arrives next. Bytes that were kept, too few to be the mark, are answered when the mark does not
   * begin in them: what arrives is not copied.
   */
  private async moreWithout(mark: Buffer): Promise<Buffer> {
    const bytes = await this.needed();
    const before = this.kept;
    const seam = Buffer.concat([before, bytes.subarray(0, mark.length)]);
    const at = seam.indexOf(mark);
    const isApart = bytes.length >= mark.length && (at < 0 || at >= before.length);
    this.kept = isApart ? bytes : Buffer.concat([before, bytes]);
    return isApart ? before : Buffer.alloc(0);
  }

  private async more(): Promise<void> {
    const bytes = await this.needed();
    this.kept = Buffer.concat([this.kept, bytes]);
  }

  private async needed(): Promise<Buffer> {
    const bytes = await this.next();
    if (!bytes) throw broken('it ends before its last boundary');
    return bytes;
  }

  /** What arrives next; undefined at the end. What came before is let go of, but for what is kept of it. Errors: body_too_large. */
  private async next(): Promise<Buffer | undefined> {
    this.kept = Buffer.from(this.kept);
    release(this.arrival);
    this.arrival = undefined;
    const { done, value } = await this.reader.read();
    this.isOver = done;
    if (!value) return undefined;
    this.arrival = value;
    this.read += value.length;
    if (this.read > this.limit) throw fail('body_too_large', { limit: this.limit });
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
}
