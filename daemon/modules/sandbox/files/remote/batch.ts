import { CALL_AREA, CALL_HEADER, CALL_RECORD } from '../../drivers/programs/call-program.ts';
import { encodeName } from './names.ts';
import { type CallName, callNumber } from './numbers.ts';
import { brokenServer } from './server-error.ts';

/** The most bytes that one batch carries in either direction besides paths and records. */
export const MAX_DATA = 1024 * 1024;

/** What makes the best of a pipe of the box: as much of a file as travels at once. */
export const BLOCK = 256 * 1024;

const NONCE = 8;
const ARGUMENTS = 6;
const NO_LEAST = -(2n ** 63n);
/** What goes past the page cache begins a page of memory (open(2), O_DIRECT): the first bytes of a batch, or its tail. */
const PAGE = 4096;
const FIRST = CALL_AREA.address + PAGE;

/** A place in the memory of the other side that is known when the batch is complete. */
type Place = { readonly in: number } | { readonly out: number } | { readonly result: number };

/** An argument of a call: a number, a place, or the result of an earlier call of the batch. */
export type Argument = number | bigint | Place;

interface Call {
  readonly number: number;
  readonly args: readonly Argument[];
  readonly least: bigint;
}

/** Where the parts of a request are on the other side. */
interface Layout {
  readonly inAt: number;
  readonly recordsAt: number;
  readonly end: number;
}

/** What a batch answered. */
export interface Reply {
  /** Result of each call, in order; a negative one is an errno. Calls after one that fell short were not made. */
  readonly results: readonly number[];
  /** How many calls were made. */
  readonly made: number;
  /** The bytes of the buffers that `out` reserved, one after the other. */
  readonly out: Uint8Array;
  /** What the tail's call brought. */
  readonly tail: Uint8Array;
}

/** System calls that travel together. With `least`, the calls after one that answers less are not made. */
export class Batch {
  private readonly parts: Uint8Array[] = [];
  private readonly calls: Call[] = [];
  private inLength = 0;
  private outLength = 0;
  private tailCall: number | undefined;
  private tailSize = 0;

  /** Adds a path, and gives its place. */
  path(path: string): Place {
    const bytes = encodeName(path);
    const ended = new Uint8Array(bytes.length + 1);
    ended.set(bytes);
    return this.bytes(ended);
  }

  /** Adds bytes, and gives their place. */
  bytes(...parts: readonly Uint8Array[]): Place {
    const place = { in: this.inLength };
    for (const part of parts) {
      this.parts.push(part);
      this.inLength += part.length;
    }
    const over = this.inLength % 8;
    if (over > 0) {
      this.parts.push(new Uint8Array(8 - over));
      this.inLength += 8 - over;
    }
    return place;
  }

  /** Reserves a buffer that comes back whole. Sizes are multiples of 8. */
  out(size: number): Place {
    const place = { out: this.outLength };
    this.outLength += size;
    return place;
  }

  /** Makes the last buffer of the batch, of which as much comes back as the next call answers. */
  tail(size: number): Place {
    this.tailCall = this.calls.length;
    this.tailSize = size;
    return { out: this.outLength };
  }

  /** Adds a call, and gives its result as an argument for later ones. */
  call(name: CallName, args: readonly Argument[], least?: number): Place {
    this.calls.push({
      number: callNumber(name),
      args,
      least: least === undefined ? NO_LEAST : BigInt(least),
    });
    return { result: this.calls.length - 1 };
  }

  /** The request. @param nonce comes back first in the answer @param memory where it is made, if it fits there */
  encode(nonce: bigint, memory?: Uint8Array): Uint8Array {
    const length = this.inLength + NONCE + this.calls.length * CALL_RECORD;
    const over = this.tailCall === undefined ? 0 : (FIRST + length + this.outLength) % PAGE;
    const inAt = over === 0 ? FIRST : FIRST + PAGE - over;
    const recordsAt = inAt + this.inLength + NONCE;
    const end = inAt + length;
    if (end + this.outLength + this.tailSize > CALL_AREA.address + CALL_AREA.size)
      throw new RangeError('a batch is too large');
    const size = CALL_HEADER + length;
    const bytes = memory && memory.length >= size ? memory.subarray(0, size) : new Uint8Array(size);
    const view = viewOf(bytes);
    const tail = this.tailCall === undefined ? 0 : recordsAt + this.tailCall * CALL_RECORD + 56;
    const header = [inAt, length, recordsAt, end, recordsAt - NONCE, this.fixedLength, tail];
    for (const [i, value] of header.entries()) view.setBigUint64(8 * i, BigInt(value), true);
    let at = CALL_HEADER;
    for (const part of this.parts) {
      const isThere = part.buffer === bytes.buffer && part.byteOffset === bytes.byteOffset + at;
      if (!isThere) bytes.set(part, at);
      at += part.length;
    }
    view.setBigUint64(at, nonce, true);
    for (const [i, call] of this.calls.entries())
      this.putRecord(view, at + NONCE + i * CALL_RECORD, call, { inAt, recordsAt, end });
    return bytes;
  }

  /** How many calls it has. */
  get length(): number {
    return this.calls.length;
  }

  /** Whether it carries contents. */
  get isLarge(): boolean {
    return this.inLength >= BLOCK / 4;
  }

  /** Bytes of the answer before its tail. */
  get fixedLength(): number {
    return NONCE + this.calls.length * CALL_RECORD + this.outLength;
  }

  /** Bytes of the tail, from the fixed part of an answer. Errors: unavailable when it is no answer to this. */
  tailLength(fixed: Uint8Array, nonce: bigint): number {
    const view = viewOf(fixed);
    if (view.getBigUint64(0, true) !== nonce) throw brokenServer('an answer is not to what was asked');
    if (this.tailCall === undefined) return 0;
    const result = this.resultOf(view, this.tailCall);
    if (result > this.tailSize) throw brokenServer('an answer is too long');
    return Math.max(result, 0);
  }

  reply(fixed: Uint8Array, tail: Uint8Array): Reply {
    const view = viewOf(fixed);
    const results = this.calls.map((_, i) => this.resultOf(view, i));
    const short = results.findIndex((result, i) => BigInt(result) < (this.calls[i]?.least ?? NO_LEAST));
    const made = short < 0 ? results.length : short + 1;
    return { results, made, out: fixed.subarray(fixed.length - this.outLength), tail };
  }

  private resultOf(view: DataView, i: number): number {
    return Number(view.getBigInt64(NONCE + i * CALL_RECORD + 56, true));
  }

  private putRecord(view: DataView, at: number, call: Call, layout: Layout): void {
    let bits = 0;
    // All six, also those that the call does not have: the memory may hold what somebody else has sent.
    for (let i = 0; i < ARGUMENTS; i++) {
      const [value, isIndirect] = this.resolve(call.args[i] ?? 0, layout);
      if (isIndirect) bits |= 1 << i;
      view.setBigInt64(at + 8 + 8 * i, value, true);
    }
    view.setUint32(at, call.number, true);
    view.setUint32(at + 4, bits, true);
    view.setBigInt64(at + 56, call.least, true);
  }

  private resolve(
    argument: Argument,
    { inAt, recordsAt, end }: Layout,
  ): [value: bigint, isIndirect: boolean] {
    if (typeof argument === 'bigint') return [argument, false];
    if (typeof argument === 'number') return [BigInt(argument), false];
    if ('in' in argument) return [BigInt(inAt + argument.in), false];
    if ('out' in argument) return [BigInt(end + argument.out), false];
    return [BigInt(recordsAt + argument.result * CALL_RECORD + 56), true];
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
