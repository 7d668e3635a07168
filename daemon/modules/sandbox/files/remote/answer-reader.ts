import type { Batch, Reply } from './batch.ts';
import { brokenServer } from './server-error.ts';

interface Expected {
  readonly batch: Batch;
  readonly nonce: bigint;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
}

/** Puts answers together from a stream of bytes that is cut anywhere. It keeps no more than one answer. */
export class AnswerReader {
  private readonly expected: Expected[] = [];
  private fixed: Uint8Array | undefined;
  private tail: Uint8Array | undefined;
  private filled = 0;

  /** How many batches have no answer yet. */
  get waiting(): number {
    return this.expected.length;
  }

  /** The answer to a batch that was asked after all that are expected already. */
  expect(batch: Batch, nonce: bigint): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.expected.push({ batch, nonce, resolve, reject });
    });
  }

  /** Takes bytes; answers how many batches are answered by them. Errors: unavailable when they are no answer. */
  feed(bytes: Uint8Array): number {
    let answered = 0;
    for (let at = 0; at < bytes.length; ) {
      const current = this.expected[0];
      if (!current) throw brokenServer('it answers what nobody asked');
      at = this.take(bytes, at, current);
      if (!this.isWhole()) continue;
      this.expected.shift();
      answered++;
      current.resolve(current.batch.reply(this.fixed as Uint8Array, this.tail as Uint8Array));
      this.fixed = undefined;
      this.tail = undefined;
    }
    return answered;
  }

  fail(error: Error): void {
    for (const { reject } of this.expected.splice(0)) reject(error);
  }

  /** Copies what belongs to the part that is being filled; answers where the next part begins. */
  private take(bytes: Uint8Array, at: number, { batch, nonce }: Expected): number {
    if (!this.fixed) {
      this.fixed = new Uint8Array(batch.fixedLength);
      this.filled = 0;
    }
    const into = this.tail ?? this.fixed;
    const part = bytes.subarray(at, at + into.length - this.filled);
    into.set(part, this.filled);
    this.filled += part.length;
    if (!this.tail && this.filled === this.fixed.length) {
      this.tail = new Uint8Array(batch.tailLength(this.fixed, nonce));
      this.filled = 0;
    }
    return at + part.length;
  }

  private isWhole(): boolean {
    return this.tail !== undefined && this.filled === this.tail.length;
  }
}
