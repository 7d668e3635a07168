import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fail } from '../../../../src/errors/app-error.ts';

/** Bytes that can be read as often as they are needed. */
export interface Kept {
  readonly size: number;
  /** The bytes that are in memory: all of them unless `isOnDisk`. */
  readonly head: Uint8Array;
  readonly isOnDisk: boolean;
  /** All of them, in pieces. */
  pieces(): AsyncGenerator<Uint8Array<ArrayBuffer>>;
}

/** What one spool holds in memory before it writes to the disk. */
const MOST_HELD = 512 * 1024;
const PIECE = 64 * 1024;
/** Of everything, so much stays in memory: enough to see what a file is. */
const HEAD = 64;

/** Bytes that stay in memory. */
export function keptInMemory(bytes: Uint8Array<ArrayBuffer>): Kept {
  return {
    size: bytes.byteLength,
    head: bytes,
    isOnDisk: false,
    async *pieces() {
      yield bytes;
    },
  };
}

/**
 * Keeps what one request brings, in memory while it is little and in a file beyond that. The file has no name from the moment
 * that it is open, so nothing stays behind, not even after kill -9. Errors of a full disk: disk_full.
 */
export class Spool {
  private held = 0;
  private file: FileHandle | undefined;
  private end = 0;

  constructor(private readonly directory: string) {}

  /** Keeps some bytes. One at a time. Errors: those of the source and of the disk. */
  async keep(source: AsyncIterable<Uint8Array>): Promise<Kept> {
    const head: Uint8Array[] = [];
    let size = 0;
    let start: number | undefined;
    for await (const piece of source) {
      size += piece.byteLength;
      if (start === undefined && this.held + piece.byteLength <= MOST_HELD) {
        this.held += piece.byteLength;
        head.push(Uint8Array.from(piece));
      } else {
        const first = head.length === 0 ? HEAD : 0;
        if (first > 0) head.push(Uint8Array.from(piece.subarray(0, first)));
        start ??= this.end;
        await this.append(piece.subarray(first));
      }
    }
    return this.kept(Buffer.concat(head), size, start);
  }

  /** Lets go of everything; what is being read breaks off. */
  async dispose(): Promise<void> {
    const { file } = this;
    this.file = undefined;
    await file?.close();
  }

  private async append(piece: Uint8Array): Promise<void> {
    this.file ??= await openUnnamed(this.directory);
    for (let done = 0; done < piece.byteLength; ) {
      const { bytesWritten } = await this.file
        .write(piece, done, piece.byteLength - done, this.end)
        .catch(full);
      done += bytesWritten;
      this.end += bytesWritten;
    }
  }

  private kept(head: Buffer<ArrayBuffer>, size: number, start: number | undefined): Kept {
    const read = (from: number, length: number) => this.read(from, length);
    return {
      size,
      head,
      isOnDisk: start !== undefined,
      async *pieces() {
        if (head.byteLength > 0) yield head;
        const rest = size - head.byteLength;
        for (let at = 0; at < rest; at += PIECE)
          yield await read((start ?? 0) + at, Math.min(PIECE, rest - at));
      },
    };
  }

  private async read(from: number, length: number): Promise<Buffer<ArrayBuffer>> {
    if (!this.file) throw new Error('what was kept of this request is gone');
    const buffer = Buffer.allocUnsafeSlow(length);
    for (let done = 0; done < length; ) {
      const { bytesRead } = await this.file.read(buffer, done, length - done, from + done);
      if (bytesRead === 0) throw new Error('what was kept of this request is cut short');
      done += bytesRead;
    }
    return buffer;
  }
}

function full(error: unknown): never {
  if (error instanceof Error && 'code' in error && error.code === 'ENOSPC')
    throw fail('disk_full', { message: 'There is no room on the disk for this upload.' });
  throw error;
}

const prepared = new Map<string, Promise<void>>();

async function openUnnamed(directory: string): Promise<FileHandle> {
  const ready = prepared.get(directory) ?? prepare(directory);
  prepared.set(directory, ready);
  await ready;
  const path = join(directory, `${randomUUID()}.part`);
  const file = await open(path, 'wx+', 0o600);
  await unlink(path);
  return file;
}

/** Makes the folder, and takes out what an end without warning has left between the opening of a file and the loss of its name. */
async function prepare(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const left = (await readdir(directory)).filter((name) => name.endsWith('.part'));
    await Promise.all(left.map((name) => unlink(join(directory, name))));
  } catch (error) {
    prepared.delete(directory);
    throw error;
  }
}
