import type { FileHandle } from 'node:fs/promises';
import { unusable } from './image.ts';

/** Bytes that are read in order, in pieces of a wanted length. */
export interface ByteSource {
  /** Exactly this many bytes; fewer only when the source ends. */
  read(length: number): Promise<Uint8Array>;
  /** The next piece of at most this many bytes, as it comes; empty at the end. */
  some(most: number): Promise<Uint8Array>;
  /** Passes over bytes. */
  skip(length: number): Promise<void>;
}

/** Bytes that arrive in pieces. More than `limit` of them is an error: an archive may unpack to any size. */
export class StreamSource implements ByteSource {
  private readonly iterator: AsyncIterator<Uint8Array>;
  private rest: Uint8Array = new Uint8Array(0);
  private total = 0;

  constructor(
    stream: AsyncIterable<Uint8Array>,
    private readonly limit: number,
  ) {
    this.iterator = stream[Symbol.asyncIterator]();
  }

  async read(length: number): Promise<Uint8Array> {
    const whole = new Uint8Array(length);
    let at = 0;
    while (at < length) {
      const piece = await this.some(length - at);
      if (piece.length === 0) return whole.subarray(0, at);
      whole.set(piece, at);
      at += piece.length;
    }
    return whole;
  }

  async some(most: number): Promise<Uint8Array> {
    while (this.rest.length === 0) {
      const { done, value } = await this.iterator.next();
      if (done) return this.rest;
      this.total += value.length;
      if (this.total > this.limit) throw unusable(`a layer unpacks to more than ${this.limit} bytes`);
      this.rest = value;
    }
    const piece = this.rest.subarray(0, most);
    this.rest = this.rest.subarray(piece.length);
    return piece;
  }

  async skip(length: number): Promise<void> {
    for (let left = length; left > 0; ) {
      const piece = await this.some(left);
      if (piece.length === 0) throw unusable('an archive ends too early');
      left -= piece.length;
    }
  }

  /** Reads what is left, so that a digest of the whole can be made. */
  async drain(): Promise<void> {
    while ((await this.some(Number.MAX_SAFE_INTEGER)).length > 0);
  }
}

/** Bytes of a file; what is passed over is not read. */
export class FileSource implements ByteSource {
  position = 0;

  constructor(private readonly file: FileHandle) {}

  async read(length: number): Promise<Uint8Array> {
    const { bytesRead, buffer } = await this.file.read(new Uint8Array(length), 0, length, this.position);
    this.position += bytesRead;
    return buffer.subarray(0, bytesRead);
  }

  async some(most: number): Promise<Uint8Array> {
    return this.read(Math.min(most, 1024 * 1024));
  }

  async skip(length: number): Promise<void> {
    this.position += length;
  }
}
