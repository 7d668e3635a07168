import type { BoxFile, FileStat } from '../box-files.ts';
import { Batch, BLOCK, MAX_DATA } from './batch.ts';
import { E, fileError } from './errno.ts';
import { AT_EMPTY_PATH, AT_FDCWD, AT_SYMLINK_NOFOLLOW, F_SETFL, O } from './numbers.ts';
import { blocksRead, Reads, RUSAGE_SELF, RUSAGE_SIZE } from './reads.ts';
import type { RequestMemory } from './request-memory.ts';
import type { CallServer } from './server.ts';
import { parseStatx, STATX_MASK, STATX_SIZE } from './stat.ts';
import { timesOf } from './times.ts';

/** What goes past the page cache begins and ends at multiples of this (statx(2), stx_dio_offset_align: mostly 512). */
const DIRECT_UNIT = 4096;

/** An open file of a box. It is closed with the process that has it open. */
export class RemoteFile implements BoxFile {
  private isOpen = true;
  private isDirect = false;
  /** Not every file system writes past its cache. */
  private canBeDirect = true;
  private readonly reads = new Reads();

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
    const size = Math.min(length, MAX_DATA);
    return size < BLOCK ? this.readShort(position, size) : this.readLong(position, size);
  }

  private async readShort(position: number, size: number): Promise<Uint8Array> {
    const batch = new Batch();
    this.setDirect(batch, false);
    batch.call('pread', [this.fd, batch.tail(size), size, position]);
    return (await this.run(batch)).tail;
  }

  /** Past the page cache, once it was seen that what comes is not in there. */
  private async readLong(position: number, size: number): Promise<Uint8Array> {
    const isDirect = this.isAligned(this.reads.isCold, position, size);
    const batch = new Batch();
    this.setDirect(batch, isDirect);
    const usage = batch.out(RUSAGE_SIZE);
    const at = batch.length;
    batch.call('pread', [this.fd, batch.tail(size), size, position]);
    batch.call('getrusage', [RUSAGE_SELF, usage]);
    const { results, out, tail } = await this.server.run(batch);
    const read = results[at] ?? 0;
    if (read >= 0) {
      if (!isDirect) this.reads.saw(read, blocksRead(out));
      return tail;
    }
    if (!isDirect || read !== -E.INVAL) throw fileError(-read, this.path);
    this.canBeDirect = false;
    return this.readShort(position, size);
  }

  async write(position: number, bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += BLOCK)
      await this.writeBlock(position + at, bytes.subarray(at, at + BLOCK));
  }

  /**
   * Writes contents that lie ready, in one round trip. With `direct` they go past the page cache where that is possible,
   * so that they take no memory of the box. Errors: disk_full.
   */
  async writeReady(
    position: number,
    memory: RequestMemory,
    length: number,
    { direct }: { readonly direct: boolean },
  ): Promise<void> {
    const bytes = memory.contents.subarray(0, length);
    const isDirect = this.isAligned(direct, position, length);
    const batch = new Batch();
    const place = batch.bytes(bytes);
    this.setDirect(batch, isDirect);
    batch.call('pwrite', [this.fd, place, length, position]);
    const { results } = await this.server.run(batch, memory);
    const written = results.at(-1) ?? 0;
    if (written === length) return;
    if (isDirect) this.canBeDirect = false;
    if (written < 0 && !(isDirect && written === -E.INVAL)) throw fileError(-written, this.path);
    const done = Math.max(written, 0);
    await this.writeRest(position + done, bytes.subarray(done), isDirect || done > 0);
  }

  private isAligned(isWanted: boolean, position: number, length: number): boolean {
    return isWanted && this.canBeDirect && position % DIRECT_UNIT === 0 && length % DIRECT_UNIT === 0;
  }

  private async writeBlock(position: number, bytes: Uint8Array): Promise<void> {
    const batch = new Batch();
    const place = batch.bytes(bytes);
    this.setDirect(batch, false);
    batch.call('pwrite', [this.fd, place, bytes.length, position]);
    const written = (await this.run(batch)).results.at(-1) ?? 0;
    if (written !== bytes.length)
      await this.writeRest(position + written, bytes.subarray(written), written > 0);
  }

  /** The disk took a part: asked for the rest, it says why. */
  private async writeRest(position: number, rest: Uint8Array, isLess: boolean): Promise<void> {
    if (!isLess) throw fileError(E.NOSPC, this.path);
    await this.writeBlock(position, Uint8Array.from(rest));
  }

  /** The calls of batches are made in their order, so that what holds for one is what was added last. */
  private setDirect(batch: Batch, isDirect: boolean): void {
    if (isDirect === this.isDirect) return;
    this.isDirect = isDirect;
    batch.call('fcntl', [this.fd, F_SETFL, isDirect ? O.NONBLOCK | O.DIRECT : O.NONBLOCK]);
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

  /** Makes a batch that says by its last call how it went. */
  private async run(batch: Batch) {
    const reply = await this.server.run(batch);
    const result = reply.results.at(-1) ?? 0;
    if (result < 0) throw fileError(-result, this.path);
    return reply;
  }
}

/** Adds the look at a path. */
export function addStat(batch: Batch, path: string, follow: boolean): void {
  const flags = follow ? 0 : AT_SYMLINK_NOFOLLOW;
  batch.call('statx', [AT_FDCWD, batch.path(path), flags, STATX_MASK, batch.out(STATX_SIZE)]);
}
