import { CALL_AREA, CALL_HEADER, CALL_RECORD } from '../../drivers/programs/call-program.ts';
import { encodeName } from './names.ts';
import { type CallName, callNumber } from './numbers.ts';
import { brokenServer } from './server-error.ts';

/** The most bytes that one batch carries in either direction besides paths and records. */
export const MAX_DATA = 1024 * 1024;

/** What makes the best of a pipe of the box: as much of a file as travels at once. */
export const BLOCK = 256 * 1024;

const NONCE = 8;
const NO_LEAST = -(2n ** 63n);
/** Contents that come first in a batch begin a page there, as those must that go past the page cache (open(2), O_DIRECT). */
const IN_AT = CALL_AREA.address + 4096;

/** A place in the memory of the other side that is known when the batch is complete. */
type Place = { readonly in: number } | { readonly out: number } | { readonly result: number };

/** An argument of a call: a number, a place, or the result of an earlier call of the batch. */
export type Argument = number | bigint | Place;

interface Call {
  readonly number: number;
  readonly args: readonly Argument[];
  readonly least: bigint;
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
    const recordsAt = IN_AT + this.inLength + NONCE;
    const end = recordsAt + this.calls.length * CALL_RECORD;
    const length = end - IN_AT;
    if (end + this.outLength + this.tailSize > CALL_AREA.address + CALL_AREA.size)
      throw new RangeError('a batch is too large');
    const size = CALL_HEADER + length;
    const bytes = memory && memory.length >= size ? memory.subarray(0, size) : new Uint8Array(size);
    const view = viewOf(bytes);
    const tail = this.tailCall === undefined ? 0 : recordsAt + this.tailCall * CALL_RECORD + 56;
    const header = [IN_AT, length, recordsAt, end, recordsAt - NONCE, this.fixedLength, tail];
    for (const [i, value] of header.entries()) view.setBigUint64(8 * i, BigInt(value), true);
    let at = CALL_HEADER;
    for (const part of this.parts) {
      const isThere = part.buffer === bytes.buffer && part.byteOffset === bytes.byteOffset + at;
      if (!isThere) bytes.set(part, at);
      at += part.length;
    }
    view.setBigUint64(at, nonce, true);
    for (const [i, call] of this.calls.entries())
      this.putRecord(view, at + NONCE + i * CALL_RECORD, call, recordsAt, end);
    return bytes;
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

  private putRecord(view: DataView, at: number, call: Call, recordsAt: number, end: number): void {
    let bits = 0;
    for (const [i, argument] of call.args.entries()) {
      const [value, isIndirect] = this.resolve(argument, recordsAt, end);
      if (isIndirect) bits |= 1 << i;
      view.setBigInt64(at + 8 + 8 * i, value, true);
    }
    view.setUint32(at, call.number, true);
    view.setUint32(at + 4, bits, true);
    view.setBigInt64(at + 56, call.least, true);
  }

  private resolve(argument: Argument, recordsAt: number, end: number): [value: bigint, isIndirect: boolean] {
    if (typeof argument === 'bigint') return [argument, false];
    if (typeof argument === 'number') return [BigInt(argument), false];
    if ('in' in argument) return [BigInt(IN_AT + argument.in), false];
    if ('out' in argument) return [BigInt(end + argument.out), false];
    return [BigInt(recordsAt + argument.result * CALL_RECORD + 56), true];
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
