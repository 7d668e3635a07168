/** What a kernel says about a run, between the output of the code. */
export interface KernelMessage {
  readonly type: 'ready' | 'need' | 'result' | 'end' | 'leave';
  /** Of `need`: the library that is asked for. */
  readonly name?: string;
  /** Of `result`: a value by media type. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** Of `end`, in languages that throw. */
  readonly error?: KernelError | null;
  /** Of `end` in a shell, and of `leave`: the exit code. */
  readonly code?: number;
}

/** An error as the language of a context knows it. */
export interface KernelError {
  readonly ename: string;
  readonly evalue: string;
  readonly traceback: readonly string[];
}

/** A piece of one output of a context. */
export type Piece =
  | { readonly bytes: Uint8Array }
  | { readonly message: KernelMessage }
  /** A message that was too long or was none. */
  | { readonly broken: string };

const RECORD_SEPARATOR = 0x1e;
const NEWLINE = 10;
/** One piece of a message is written at once, so it is no longer than PIPE_BUF; more comes from no kernel. */
const MAX_PIECE = 4096;
/** Twice what a kernel lets a single value take, with room for several. */
const MAX_MESSAGE = 32 * 1024 * 1024;

/**
 * Takes one output of a context apart: what the code wrote, and what its kernel says behind `RS token`. A message
 * comes in lines that end in nothing (`.`) or go on (`+`). Code can write anything, so nothing is believed that does
 * not bear the token of the run, no length is ever read, and what is kept has a bound.
 */
export class MarkReader {
  private mark: Buffer = Buffer.alloc(0);
  /** The end of what came, which may be the beginning of a mark or of a message. */
  private rest: Buffer = Buffer.alloc(0);
  private parts: Buffer[] = [];
  private size = 0;

  /** From now on messages bear this token. */
  expect(token: string): void {
    this.mark = Buffer.concat([Buffer.of(RECORD_SEPARATOR), Buffer.from(token)]);
    this.parts = [];
    this.size = 0;
  }

  /** The pieces that more bytes complete. */
  *read(bytes: Uint8Array): Generator<Piece> {
    let data = this.rest.length > 0 ? Buffer.concat([this.rest, bytes]) : Buffer.from(bytes);
    this.rest = Buffer.alloc(0);
    while (data.length > 0) {
      const at = data.indexOf(this.mark);
      const plain = at < 0 ? this.plainLength(data) : at;
      if (plain > 0) yield { bytes: data.subarray(0, plain) };
      if (at < 0) {
        this.rest = Buffer.from(data.subarray(plain));
        return;
      }
      const end = data.indexOf(NEWLINE, at + this.mark.length);
      if (end < 0 && data.length - at < this.mark.length + MAX_PIECE) {
        this.rest = Buffer.from(data.subarray(at));
        return;
      }
      const isPiece = end >= 0 && end - at < this.mark.length + MAX_PIECE;
      if (isPiece) yield* this.take(data.subarray(at + this.mark.length, end));
      else yield { bytes: data.subarray(at, at + 1) };
      data = data.subarray(isPiece ? end + 1 : at + 1);
    }
  }

  /** What is left when nothing more comes. */
  end(): Uint8Array {
    const { rest } = this;
    this.rest = Buffer.alloc(0);
    return rest;
  }

  private *take(line: Buffer): Generator<Piece> {
    const [goesOn, ends] = [line[0] === 0x2b, line[0] === 0x2e];
    if (!goesOn && !ends) return;
    this.size += line.length - 1;
    if (this.size <= MAX_MESSAGE) this.parts.push(Buffer.from(line.subarray(1)));
    else this.parts = [];
    if (goesOn) return;
    const message = this.size <= MAX_MESSAGE ? parse(Buffer.concat(this.parts)) : undefined;
    const size = this.size;
    this.parts = [];
    this.size = 0;
    yield message ? { message } : { broken: `[svc left out a message of ${size} bytes]` };
  }

  /** How much at the front cannot be the beginning of a mark. */
  private plainLength(data: Buffer): number {
    for (let length = Math.min(this.mark.length - 1, data.length); length > 0; length--) {
      const from = data.length - length;
      if (data[from] === RECORD_SEPARATOR && data.subarray(from).equals(this.mark.subarray(0, length)))
        return from;
    }
    return data.length;
  }
}

const TYPES: readonly string[] = ['ready', 'need', 'result', 'end', 'leave'];

function parse(text: Buffer): KernelMessage | undefined {
  try {
    const value: unknown = JSON.parse(text.toString());
    if (typeof value !== 'object' || value === null || !('type' in value)) return undefined;
    return TYPES.includes(String(value.type)) ? checked(value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** The fields as they must be: what a kernel said, the code may have said in its name. */
function checked({ type, name, data, error, code }: Record<string, unknown>): KernelMessage {
  return {
    type: type as KernelMessage['type'],
    ...(typeof name === 'string' && { name }),
    ...(isObject(data) && { data }),
    ...(Number.isInteger(code) && { code: Number(code) }),
    ...(isObject(error) && { error: errorOf(error) }),
  };
}

function errorOf({ ename, evalue, traceback }: Record<string, unknown>): KernelError {
  const lines = Array.isArray(traceback) ? traceback.map(String) : [];
  return { ename: String(ename ?? 'Error'), evalue: String(evalue ?? ''), traceback: lines };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
