import type { BoxFiles, DirectoryEntry, FileStat, OpenMode } from '../box-files.ts';
import { Batch, type Reply } from './batch.ts';
import { parseEntries } from './entries.ts';
import { E, fileError } from './errno.ts';
import { addStat, RemoteFile } from './file.ts';
import { decodeName } from './names.ts';
import { AT_EMPTY_PATH, AT_FDCWD, AT_REMOVEDIR, AT_SYMLINK_NOFOLLOW, O } from './numbers.ts';
import { type CallServer, SPARE_FD } from './server.ts';
import { parseStatx, STATX_MASK, STATX_SIZE } from './stat.ts';
import { timesOf } from './times.ts';

const ENTRIES_SIZE = 64 * 1024;
const PATH_SIZE = 4096;
const DEFAULT_MODE = 0o644;

/** The files of a box, over a process inside it. */
export class RemoteFiles implements BoxFiles {
  private openCount = 0;

  /** @param server carries out the calls */
  constructor(readonly server: CallServer) {}

  /** Whether files or directories are open: ending the process would close them. */
  get isBusy(): boolean {
    return this.openCount > 0;
  }

  async stat(path: string): Promise<FileStat> {
    return this.look(path, true);
  }

  async lstat(path: string): Promise<FileStat> {
    return this.look(path, false);
  }

  async readLink(path: string): Promise<string> {
    const batch = new Batch();
    batch.call('readlinkat', [AT_FDCWD, batch.path(path), batch.tail(PATH_SIZE), PATH_SIZE]);
    return decodeName((await this.run(batch, path)).tail);
  }

  /** The kernel tells the path of what is open; opening it as a place alone has no effect. */
  async realPath(path: string): Promise<string> {
    const batch = new Batch();
    const fd = batch.call('openat', [AT_FDCWD, batch.path(path), O.PATH | O.CLOEXEC], 0);
    batch.call('dup3', [fd, SPARE_FD, O.CLOEXEC], 0);
    batch.call('close', [fd], 0);
    const link = batch.path(`/proc/self/fd/${SPARE_FD}`);
    batch.call('readlinkat', [AT_FDCWD, link, batch.tail(PATH_SIZE), PATH_SIZE], 0);
    return decodeName((await this.run(batch, path)).tail);
  }

  async *list(path: string): AsyncGenerator<readonly DirectoryEntry[]> {
    const fd = await this.openDirectory(path);
    try {
      for (;;) {
        const entries = await this.readDirectory(fd, path);
        if (!entries) return;
        yield entries;
      }
    } finally {
      await this.closeDirectory(fd);
    }
  }

  /** Opens a directory. @param at the directory that a relative path counts from */
  async openDirectory(path: string, at: number = AT_FDCWD, flags = 0): Promise<number> {
    const batch = new Batch();
    batch.call('openat', [at, batch.path(path), O.DIRECTORY | O.CLOEXEC | O.NONBLOCK | flags]);
    const [fd = -1] = (await this.run(batch, path)).results;
    this.openCount++;
    return fd;
  }

  /** The next entries of an open directory; undefined at its end. */
  async readDirectory(fd: number, path: string): Promise<DirectoryEntry[] | undefined> {
    const batch = new Batch();
    batch.call('getdents', [fd, batch.tail(ENTRIES_SIZE), ENTRIES_SIZE]);
    const { tail } = await this.run(batch, path);
    return tail.length === 0 ? undefined : parseEntries(tail);
  }

  async closeDirectory(fd: number): Promise<void> {
    this.openCount--;
    if (this.server.isEnded) return;
    const batch = new Batch();
    batch.call('close', [fd]);
    await this.server.run(batch);
  }

  /** Opens a regular file; pipes, devices and sockets are refused, and never waited for. */
  async open(path: string, how: OpenMode): Promise<RemoteFile> {
    const batch = new Batch();
    const args = [AT_FDCWD, batch.path(path), openFlags(how), how.mode ?? DEFAULT_MODE];
    const fd = batch.call('openat', args, 0);
    batch.call('statx', [fd, batch.path(''), AT_EMPTY_PATH, STATX_MASK, batch.out(STATX_SIZE)]);
    const { results, out } = await this.run(batch, path);
    this.openCount++;
    const file = new RemoteFile(this.server, results[0] ?? -1, path, () => {
      this.openCount--;
    });
    const { kind } = parseStatx(out);
    if (kind === 'file') return file;
    await file.close();
    throw fileError(kind === 'directory' ? E.ISDIR : E.INVAL, path);
  }

  /**
   * What a path is and the first bytes of it, in one round trip; no bytes for what is no regular file.
   * Links are followed.
   */
  async peek(path: string, length: number): Promise<{ readonly stat: FileStat; readonly bytes: Uint8Array }> {
    const batch = new Batch();
    const flags = O.NONBLOCK | O.CLOEXEC;
    const fd = batch.call('openat', [AT_FDCWD, batch.path(path), flags], 0);
    batch.call('statx', [fd, batch.path(''), AT_EMPTY_PATH, STATX_MASK, batch.out(STATX_SIZE)], 0);
    batch.call('pread', [fd, batch.tail(length), length, 0]);
    batch.call('close', [fd]);
    const { results, out, tail } = await this.server.run(batch);
    const [opened = -1, seen = -1, read = 0] = results;
    if (opened < 0 || seen < 0) throw fileError(-Math.min(opened, seen), path);
    const stat = parseStatx(out);
    if (stat.kind === 'file' && read < 0) throw fileError(-read, path);
    return { stat, bytes: stat.kind === 'file' ? tail : new Uint8Array(0) };
  }

  makeDirectory(path: string, mode: number): Promise<void> {
    return this.one(path, (batch, at) => batch.call('mkdirat', [AT_FDCWD, at, mode]));
  }

  removeDirectory(path: string): Promise<void> {
    return this.one(path, (batch, at) => batch.call('unlinkat', [AT_FDCWD, at, AT_REMOVEDIR]));
  }

  remove(path: string): Promise<void> {
    return this.one(path, (batch, at) => batch.call('unlinkat', [AT_FDCWD, at, 0]));
  }

  rename(from: string, to: string): Promise<void> {
    return this.one(from, (batch, at) =>
      batch.call('renameat2', [AT_FDCWD, at, AT_FDCWD, batch.path(to), 0]),
    );
  }

  symlink(target: string, path: string): Promise<void> {
    return this.one(path, (batch, at) => batch.call('symlinkat', [batch.path(target), AT_FDCWD, at]));
  }

  link(from: string, to: string): Promise<void> {
    return this.one(from, (batch, at) => batch.call('linkat', [AT_FDCWD, at, AT_FDCWD, batch.path(to), 0]));
  }

  setMode(path: string, mode: number): Promise<void> {
    return this.one(path, (batch, at) => batch.call('fchmodat', [AT_FDCWD, at, mode]));
  }

  /** The owner of a link is its own. */
  setOwner(path: string, uid: number, gid: number): Promise<void> {
    const flags = AT_SYMLINK_NOFOLLOW;
    return this.one(path, (batch, at) => batch.call('fchownat', [AT_FDCWD, at, uid, gid, flags]));
  }

  setTimes(path: string, accessedAt: number, modifiedAt: number): Promise<void> {
    const times = timesOf(accessedAt, modifiedAt);
    return this.one(path, (batch, at) => batch.call('utimensat', [AT_FDCWD, at, batch.bytes(times), 0]));
  }

  truncate(path: string, size: number): Promise<void> {
    return this.one(path, (batch, at) => batch.call('truncate', [at, size]));
  }

  async close(): Promise<void> {
    this.server.close();
  }

  /** Makes a batch. Errors: that of the first call of which not enough came, naming the path. */
  async run(batch: Batch, path: string): Promise<Reply> {
    const reply = await this.server.run(batch);
    const failed = reply.results.slice(0, reply.made).find((result) => result < 0);
    if (failed !== undefined) throw fileError(-failed, path);
    return reply;
  }

  private async look(path: string, follow: boolean): Promise<FileStat> {
    const batch = new Batch();
    addStat(batch, path, follow);
    return parseStatx((await this.run(batch, path)).out);
  }

  private async one(
    path: string,
    add: (batch: Batch, at: ReturnType<Batch['path']>) => unknown,
  ): Promise<void> {
    const batch = new Batch();
    add(batch, batch.path(path));
    await this.run(batch, path);
  }
}

function openFlags(how: OpenMode): number {
  const access = how.write ? (how.read ? O.READ_WRITE : O.WRITE) : 0;
  return (
    access |
    (how.append ? O.APPEND : 0) |
    (how.create ? O.CREATE : 0) |
    (how.exclusive ? O.EXCLUSIVE : 0) |
    (how.truncate ? O.TRUNCATE : 0) |
    O.NONBLOCK |
    O.CLOEXEC
  );
}
