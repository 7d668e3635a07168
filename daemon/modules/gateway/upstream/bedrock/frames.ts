import { crc32 } from 'node:zlib';
import { UpstreamError } from '../error.ts';

/** One message of an event stream (Amazon Event Stream encoding: application/vnd.amazon.eventstream). */
export interface Frame {
  /** Those with a text: `:message-type`, `:event-type`, `:exception-type`... */
  readonly headers: ReadonlyMap<string, string>;
  readonly payload: Uint8Array;
}

const PRELUDE_BYTES = 12;
const CRC_BYTES = 4;
const MOST_BYTES = 24 * 1024 * 1024;
const STRING = 7;
/** How many bytes a header's value takes, by its type; of types 6 and 7 the length stands before the value. */
const SIZES: readonly (number | undefined)[] = [0, 0, 1, 2, 4, 8, undefined, undefined, 8, 16];

/** Takes the messages out of bytes that are cut anywhere. Errors: UpstreamError of kind server when a checksum is wrong. */
export class Frames {
  private pieces: Uint8Array[] = [];
  private held = 0;
  private needed = PRELUDE_BYTES;
  /** Headers repeat from one message to the next, so they are read once. */
  private known = { bytes: Buffer.alloc(0), headers: new Map<string, string>() };

  take(bytes: Uint8Array): Frame[] {
    this.pieces.push(bytes);
    this.held += bytes.byteLength;
    if (this.held < this.needed) return [];
    const all = this.pieces.length === 1 ? bytes : Buffer.concat(this.pieces);
    const frames: Frame[] = [];
    let at = 0;
    for (this.needed = PRELUDE_BYTES; all.byteLength - at >= this.needed; this.needed = PRELUDE_BYTES) {
      this.needed = lengthAt(all, at);
      if (all.byteLength - at < this.needed) break;
      frames.push(this.frame(all.subarray(at, at + this.needed)));
      at += this.needed;
    }
    this.pieces = at < all.byteLength ? [all.subarray(at)] : [];
    this.held = all.byteLength - at;
    return frames;
  }

  private frame(frame: Uint8Array): Frame {
    const end = frame.byteLength - CRC_BYTES;
    check(frame, end);
    const body = PRELUDE_BYTES + view(frame).getUint32(4);
    if (body > end) throw damaged();
    const head = frame.subarray(PRELUDE_BYTES, body);
    if (!this.known.bytes.equals(head)) this.known = { bytes: Buffer.from(head), headers: readHeaders(head) };
    return { headers: this.known.headers, payload: frame.subarray(body, end) };
  }

  /** Whether the source may end here. */
  get isWhole(): boolean {
    return this.held === 0;
  }
}

function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function lengthAt(bytes: Uint8Array, at: number): number {
  const prelude = bytes.subarray(at, at + PRELUDE_BYTES);
  const length = view(prelude).getUint32(0);
  check(prelude, PRELUDE_BYTES - CRC_BYTES);
  if (length < PRELUDE_BYTES + CRC_BYTES || length > MOST_BYTES) throw damaged();
  return length;
}

function readHeaders(bytes: Uint8Array): Map<string, string> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const headers = new Map<string, string>();
  for (let at = 0; at < text.length; ) {
    const nameEnd = at + 1 + text.readUInt8(at);
    if (nameEnd + 3 > text.length) throw damaged();
    const name = text.toString('utf8', at + 1, nameEnd);
    const type = text.readUInt8(nameEnd);
    const sized = type === STRING || type === STRING - 1;
    const start = nameEnd + (sized ? 3 : 1);
    const size = sized ? text.readUInt16BE(nameEnd + 1) : SIZES[type];
    if (size === undefined || start + size > text.length) throw damaged();
    if (type === STRING) headers.set(name, text.toString('utf8', start, start + size));
    at = start + size;
  }
  return headers;
}

/** Compares the checksum that stands at `at` with that of what stands before it. */
function check(bytes: Uint8Array, at: number): void {
  if (crc32(bytes.subarray(0, at)) !== view(bytes).getUint32(at)) throw damaged();
}

function damaged(): UpstreamError {
  return new UpstreamError('server', 'The provider sent an event stream that is damaged.');
}
