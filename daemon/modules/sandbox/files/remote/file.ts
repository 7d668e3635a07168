import type { BoxFile, FileStat } from '../box-files.ts';
import { Batch, BLOCK, MAX_DATA } from './batch.ts';
import { E, fileError } from './errno.ts';
import { AT_EMPTY_PATH, AT_FDCWD, AT_SYMLINK_NOFOLLOW } from './numbers.ts';
import type { CallServer } from './server.ts';
import { parseStatx, STATX_MASK, STATX_SIZE } from './stat.ts';
import { timesOf } from './times.ts';

/** An open file of a box. It is closed with the process that has it open. */
export class RemoteFile implements BoxFile {
  private isOpen = true;

  constructor(
    private readonly server: CallServer,
    readonly fd: number,
    private readonly path: string,
    private readonly onClose: () => void,
  ) {}

  async stat(): Promise<FileStat> {
    const batch = new Batch();
    const empty = batch.path('');
    batch.call('statx', [this.fd, empty, AT_EMPTY_PATH, STATX_MASK, batch.out(STATX_SIZE)]);
    return parseStatx((await this.run(batch)).out);
  }

  async read(position: number, length: number): Promise<Uint8Array> {
    const batch = new Batch();
    const size = Math.min(length, MAX_DATA);
    batch.call('pread', [this.fd, batch.tail(size), size, position]);
    return (await this.run(batch)).tail;
  }

  async write(position: number, bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += BLOCK)
      await this.writeParts(position + at, [bytes.subarray(at, at + BLOCK)]);
  }

  /** Writes parts one behind the other, in one round trip: together no more than MAX_DATA. Errors: disk_full. */
  async writeParts(position: number, parts: readonly Uint8Array[]): Promise<void> {
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    const batch = new Batch();
    batch.call('pwrite', [this.fd, batch.bytes(...parts), length, position]);
    const [written = 0] = (await this.run(batch)).results;
    if (written === length) return;
    // The disk took a part: asked for the rest, it says why.
    const rest = Buffer.concat(parts).subarray(written);
    if (written < 1 || written > length) throw fileError(E.NOSPC, this.path);
    await this.writeParts(position + written, [rest]);
  }

  setMode(mode: number): Promise<void> {
    return this.one((batch) => batch.call('fchmod', [this.fd, mode]));
  }

  setOwner(uid: number, gid: number): Promise<void> {
    return this.one((batch) => batch.call('fchown', [this.fd, uid, gid]));
  }

  setTimes(accessedAt: number, modifiedAt: number): Promise<void> {
    const times = timesOf(accessedAt, modifiedAt);
    return this.one((batch) => batch.call('utimensat', [this.fd, 0, batch.bytes(times), 0]));
  }

  truncate(size: number): Promise<void> {
    return this.one((batch) => batch.call('ftruncate', [this.fd, size]));
  }

  sync(): Promise<void> {
    return this.one((batch) => batch.call('fsync', [this.fd]));
  }

  async close(): Promise<void> {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.onClose();
    if (this.server.isEnded) return;
    await this.one((batch) => batch.call('close', [this.fd]));
  }

  private async one(add: (batch: Batch) => unknown): Promise<void> {
    const batch = new Batch();
    add(batch);
    await this.run(batch);
  }

  /** Makes a batch of one call. */
  private async run(batch: Batch) {
    const reply = await this.server.run(batch);
    const [result = 0] = reply.results;
    if (result < 0) throw fileError(-result, this.path);
    return reply;
  }
}

/** Adds the look at a path. */
export function addStat(batch: Batch, path: string, follow: boolean): void {
  const flags = follow ? 0 : AT_SYMLINK_NOFOLLOW;
  batch.call('statx', [AT_FDCWD, batch.path(path), flags, STATX_MASK, batch.out(STATX_SIZE)]);
}
