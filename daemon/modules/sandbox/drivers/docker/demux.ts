import type { OutputChunk } from '../driver.ts';

const HEADER_BYTES = 8;
const STDERR = 2;

/**
 * Takes the engine's stream of frames apart: one byte channel, three zeros, four bytes length (big endian),
 * payload. Works on parts cut anywhere, keeps at most a header and copies no payload.
 */
export class FrameReader {
  private readonly header = new Uint8Array(HEADER_BYTES);
  private headerBytes = 0;
  private left = 0;

  /** The output in this part of the stream, in order. */
  read(part: Uint8Array): OutputChunk[] {
    const chunks: OutputChunk[] = [];
    let at = 0;
    while (at < part.length) {
      if (this.left === 0) {
        at = this.readHeader(part, at);
        continue;
      }
      const end = Math.min(part.length, at + this.left);
      chunks.push({
        channel: this.header[0] === STDERR ? 'stderr' : 'stdout',
        bytes: part.subarray(at, end),
      });
      this.left -= end - at;
      at = end;
    }
    return chunks;
  }

  private readHeader(part: Uint8Array, at: number): number {
    const end = Math.min(part.length, at + HEADER_BYTES - this.headerBytes);
    this.header.set(part.subarray(at, end), this.headerBytes);
    this.headerBytes += end - at;
    if (this.headerBytes === HEADER_BYTES) {
      this.left = new DataView(this.header.buffer).getUint32(4);
      this.headerBytes = 0;
    }
    return end;
  }
}
