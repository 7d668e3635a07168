import { type FileHandle, mkdir, open, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { MIB } from '../../../../src/kit/bytes.ts';

const COPY_BYTES = 256 * 1024;

/** What one read of a log gives. */
export interface LogSlice {
  readonly body: ReadableStream<Uint8Array>;
  /** Where the next read goes on, in bytes from the command's first byte. */
  readonly next: number;
}

/** The logs of commands: one file a command, stdout and stderr in the order they were read. */
export class CommandLogs {
  constructor(
    private readonly root: string,
    private readonly keptMib: number,
  ) {}

  /** The most bytes that are kept of one command. */
  get limit(): number {
    return this.keptMib * MIB;
  }

  /** Path of a command's log; its directory is made. */
  async prepare(sandboxId: string, commandId: string): Promise<string> {
    await mkdir(join(this.root, sandboxId), { recursive: true, mode: 0o700 });
    return this.path(sandboxId, commandId);
  }

  /** A writer that keeps the first `limit` bytes. The file is made at the first byte. */
  writer(sandboxId: string, commandId: string): LogWriter {
    return new LogWriter(() => this.prepare(sandboxId, commandId), this.limit);
  }

  /** Reads from a byte on. A cursor inside a part that is not kept any more is moved behind it. */
  async read(sandboxId: string, commandId: string, cursor: number, dropped: number): Promise<LogSlice> {
    const file = Bun.file(this.path(sandboxId, commandId));
    const size = await this.size(sandboxId, commandId);
    const from = Math.min(Math.max(cursor, dropped), size);
    return { body: from < size ? file.slice(from, size).stream() : new Blob().stream(), next: size };
  }

  async size(sandboxId: string, commandId: string): Promise<number> {
    return stat(this.path(sandboxId, commandId)).then(
      ({ size }) => size,
      () => 0,
    );
  }

  /**
   * Gives back the disk under the oldest bytes of a log that is too long, and returns how many bytes are
   * gone. Offsets stay as they are, so that cursors stay good.
   */
  async trim(sandboxId: string, commandId: string, dropped: number): Promise<number> {
    const size = await this.size(sandboxId, commandId);
    if (size - dropped <= this.limit) return dropped;
    const keepFrom = size - Math.floor(this.limit / 2);
    const aligned = keepFrom - (keepFrom % COPY_BYTES);
    const punch = Bun.spawn(
      [
        'fallocate',
        '--punch-hole',
        '--offset',
        '0',
        '--length',
        String(aligned),
        this.path(sandboxId, commandId),
      ],
      { stdout: 'ignore', stderr: 'ignore' },
    );
    return (await punch.exited) === 0 ? aligned : dropped;
  }

  /** Removes the log of one command. */
  async removeOne(sandboxId: string, commandId: string): Promise<void> {
    await rm(this.path(sandboxId, commandId), { force: true });
  }

  /** Removes the logs of a sandbox. */
  async remove(sandboxId: string): Promise<void> {
    await rm(join(this.root, sandboxId), { recursive: true, force: true });
  }

  private path(sandboxId: string, commandId: string): string {
    return join(this.root, sandboxId, `${commandId}.log`);
  }
}

/** Appends to one log, in order, up to its limit. */
export class LogWriter {
  private handle: Promise<FileHandle> | undefined;
  private tail: Promise<unknown> = Promise.resolve();
  private written = 0;

  constructor(
    private readonly prepare: () => Promise<string>,
    private readonly limit: number,
  ) {}

  /** Takes bytes; resolves when they are in the file, which keeps a fast command from filling the memory. */
  async write(bytes: Uint8Array): Promise<void> {
    const kept = bytes.subarray(0, Math.max(this.limit - this.written, 0));
    const cut = this.written < this.limit && this.written + bytes.length > this.limit;
    this.written += bytes.length;
    if (kept.length === 0) return;
    this.handle ??= this.prepare().then((path) => open(path, 'a', 0o600));
    const handle = await this.handle;
    const note = cut
      ? new TextEncoder().encode(`\n[svc keeps the first ${this.limit} bytes of the output]\n`)
      : new Uint8Array();
    this.tail = this.tail.then(async () => {
      await handle.write(kept);
      if (note.length > 0) await handle.write(note);
    });
    await this.tail;
  }

  async close(): Promise<void> {
    await this.tail.catch(() => undefined);
    if (this.handle) await (await this.handle).close();
  }
}
