import { AppError } from '../../../../../src/errors/app-error.ts';
import { SECOND_MS } from '../../../../../src/kit/time.ts';
import type { BoxFile, BoxFiles, DirectoryEntry, OpenMode } from '../../files/box-files.ts';
import { longName, toAttributes } from './attributes.ts';
import { Handles, MOST_HANDLES, type OpenDirectory, type Opened, type OpenFile } from './handles.ts';
import { absolutePath, expandHome } from './paths.ts';
import { Refused } from './status.ts';
import {
  ANSWER,
  type Attributes,
  MOST_DATA,
  MOST_PACKET,
  type PacketReader,
  PacketWriter,
  REQUEST,
  STATUS,
} from './wire.ts';

/** How a file is opened, on the wire. */
const OPEN = { read: 1, write: 2, append: 4, create: 8, truncate: 16, exclusive: 32 } as const;
/** Names in one answer. */
const MOST_NAMES = 100;
const DEFAULT_FILE_MODE = 0o666;
const DEFAULT_FOLDER_MODE = 0o777;

/** Where paths start. */
export interface Places {
  /** Of relative paths. */
  readonly start: string;
  readonly home: string;
}

/** Carries out the requests of one session on the files of a sandbox. */
export class Requests {
  private readonly handles = new Handles();

  constructor(
    private readonly files: BoxFiles,
    private readonly places: Places,
    private readonly now: () => number,
  ) {}

  /** The answer to a request. Errors: Refused, AppError (see statusOf), MalformedPacket. */
  async answer(type: number, id: number, packet: PacketReader): Promise<PacketWriter> {
    const { files } = this;
    switch (type) {
      case REQUEST.open:
        return this.open(id, this.path(packet), packet.uint32(), packet.attributes());
      case REQUEST.close:
        if (!(await this.handles.close(packet.data()))) throw new Refused(STATUS.failure, 'no such handle');
        return ok(id);
      case REQUEST.read:
        return this.read(id, this.file(packet), packet.uint64(), packet.uint32());
      case REQUEST.write:
        await this.file(packet).write(packet.uint64(), packet.data());
        return ok(id);
      case REQUEST.stat:
        return new PacketWriter(ANSWER.attrs, id).attributes(
          toAttributes(await files.stat(this.path(packet))),
        );
      case REQUEST.lstat:
        return new PacketWriter(ANSWER.attrs, id).attributes(
          toAttributes(await files.lstat(this.path(packet))),
        );
      case REQUEST.fstat:
        return new PacketWriter(ANSWER.attrs, id).attributes(toAttributes(await this.file(packet).stat()));
      case REQUEST.setstat:
        return this.change(id, pathChanges(files, this.path(packet)), packet.attributes());
      case REQUEST.fsetstat:
        return this.change(id, this.file(packet), packet.attributes());
      case REQUEST.opendir:
        return this.openDirectory(id, this.path(packet));
      case REQUEST.readdir:
        return this.readDirectory(id, this.directory(packet));
      case REQUEST.remove:
        await files.remove(this.path(packet));
        return ok(id);
      case REQUEST.mkdir:
        await files.makeDirectory(
          this.path(packet),
          (packet.attributes().mode ?? DEFAULT_FOLDER_MODE) & 0o7777,
        );
        return ok(id);
      case REQUEST.rmdir:
        await files.removeDirectory(this.path(packet));
        return ok(id);
      case REQUEST.realpath:
        return oneName(id, await this.realPath(packet.text()));
      case REQUEST.readlink:
        return oneName(id, await files.readLink(this.path(packet)));
      case REQUEST.rename:
        return this.rename(id, this.path(packet), this.path(packet));
      case REQUEST.symlink:
        return this.symlink(id, packet.text(), this.path(packet));
      case REQUEST.extended:
        return this.extended(id, packet.text(), packet);
      default:
        throw new Refused(STATUS.unsupported, 'not supported');
    }
  }

  /** Lets go of everything that is open. */
  async end(): Promise<void> {
    await this.handles.closeAll();
  }

  private async extended(id: number, name: string, packet: PacketReader): Promise<PacketWriter> {
    switch (name) {
      case 'posix-rename@openssh.com':
        await this.files.rename(this.path(packet), this.path(packet));
        return ok(id);
      case 'hardlink@openssh.com':
        await this.files.link(this.path(packet), this.path(packet));
        return ok(id);
      case 'fsync@openssh.com':
        await this.file(packet).sync();
        return ok(id);
      case 'limits@openssh.com':
        return new PacketWriter(ANSWER.extended, id)
          .uint64(MOST_PACKET)
          .uint64(MOST_DATA)
          .uint64(MOST_DATA)
          .uint64(MOST_HANDLES);
      case 'expand-path@openssh.com':
        return oneName(id, await this.realPath(expandHome(packet.text(), this.places.home)));
      default:
        throw new Refused(STATUS.unsupported, 'not supported');
    }
  }

  private async open(id: number, path: string, flags: number, { mode }: Attributes): Promise<PacketWriter> {
    if (this.handles.isFull) throw new Refused(STATUS.failure, 'too many open files');
    const how: OpenMode = {
      read: (flags & OPEN.read) !== 0,
      write: (flags & (OPEN.write | OPEN.append)) !== 0,
      append: (flags & OPEN.append) !== 0,
      create: (flags & OPEN.create) !== 0,
      truncate: (flags & OPEN.truncate) !== 0,
      exclusive: (flags & OPEN.exclusive) !== 0,
      mode: (mode ?? DEFAULT_FILE_MODE) & 0o7777,
    };
    const file = await this.files.open(path, how);
    return new PacketWriter(ANSWER.handle, id).data(this.handles.add({ kind: 'file', file }));
  }

  private async read(id: number, file: BoxFile, position: number, length: number): Promise<PacketWriter> {
    const bytes = await file.read(position, Math.min(length, MOST_DATA));
    if (bytes.length === 0 && length > 0) throw new Refused(STATUS.eof, 'end of file');
    return new PacketWriter(ANSWER.data, id).data(bytes);
  }

  private async openDirectory(id: number, path: string): Promise<PacketWriter> {
    if (this.handles.isFull) throw new Refused(STATUS.failure, 'too many open files');
    const batches = this.files.list(path)[Symbol.asyncIterator]();
    const first = await batches.next();
    const waiting = first.done ? [] : first.value;
    return new PacketWriter(ANSWER.handle, id).data(
      this.handles.add({ kind: 'directory', path, batches, waiting }),
    );
  }

  private async readDirectory(id: number, directory: OpenDirectory): Promise<PacketWriter> {
    while (directory.waiting.length === 0) {
      const { done, value } = await directory.batches.next();
      if (done) throw new Refused(STATUS.eof, 'end of directory');
      directory.waiting = value;
    }
    const entries = directory.waiting.slice(0, MOST_NAMES);
    directory.waiting = directory.waiting.slice(MOST_NAMES);
    const stats = await Promise.all(entries.map(({ name }) => this.look(`${directory.path}/${name}`)));
    const answer = new PacketWriter(ANSWER.name, id).uint32(entries.length);
    for (const [i, entry] of entries.entries()) this.putName(answer, entry, stats[i]);
    return answer;
  }

  private putName(
    answer: PacketWriter,
    entry: DirectoryEntry,
    stat: Awaited<ReturnType<Requests['look']>>,
  ): void {
    answer.text(entry.name).text(longName(entry, stat, this.now()));
    answer.attributes(stat ? toAttributes(stat) : {});
  }

  /** What a name is, when it is still there. */
  private look(path: string) {
    return this.files.lstat(path).catch(() => undefined);
  }

  /** Version 3 does not replace what is at the new name. */
  private async rename(id: number, from: string, to: string): Promise<PacketWriter> {
    if (await this.look(to)) throw new Refused(STATUS.failure, 'the new name exists already');
    await this.files.rename(from, to);
    return ok(id);
  }

  /** OpenSSH sends the target first, against the draft, and everybody follows it. */
  private async symlink(id: number, target: string, path: string): Promise<PacketWriter> {
    await this.files.symlink(target, path);
    return ok(id);
  }

  private async change(id: number, file: Changes, attributes: Attributes): Promise<PacketWriter> {
    const { size, uid, gid, mode, accessedAt, modifiedAt } = attributes;
    if (size !== undefined) await file.truncate(size);
    if (uid !== undefined && gid !== undefined) await file.setOwner(uid, gid);
    if (mode !== undefined) await file.setMode(mode & 0o7777);
    if (accessedAt !== undefined && modifiedAt !== undefined)
      await file.setTimes(accessedAt * SECOND_MS, modifiedAt * SECOND_MS);
    return ok(id);
  }

  /** The path without links; where the last parts do not exist yet, they stay as they are. */
  private async realPath(text: string): Promise<string> {
    const path = absolutePath(text, this.places.start);
    return this.files.realPath(path).catch(async (error: unknown) => {
      if (!(error instanceof AppError && error.http === 404)) throw error;
      const at = path.lastIndexOf('/');
      const folder = path.slice(0, at) || '/';
      const parent = await this.files.realPath(folder).catch(() => folder);
      return `${parent === '/' ? '' : parent}${path.slice(at)}`;
    });
  }

  private path(packet: PacketReader): string {
    return absolutePath(packet.text(), this.places.start);
  }

  private file(packet: PacketReader): BoxFile {
    return opened(this.handles.find(packet.data()), 'file').file;
  }

  private directory(packet: PacketReader): OpenDirectory {
    return opened(this.handles.find(packet.data()), 'directory');
  }
}

/** What can be set on a file, by its path or while it is open. */
type Changes = Pick<BoxFile, 'truncate' | 'setOwner' | 'setMode' | 'setTimes'>;

function pathChanges(files: BoxFiles, path: string): Changes {
  return {
    truncate: (size) => files.truncate(path, size),
    setOwner: (uid, gid) => files.setOwner(path, uid, gid),
    setMode: (mode) => files.setMode(path, mode),
    setTimes: (accessedAt, modifiedAt) => files.setTimes(path, accessedAt, modifiedAt),
  };
}

function opened<K extends Opened['kind']>(
  found: Opened | undefined,
  kind: K,
): Extract<OpenFile | OpenDirectory, { kind: K }> {
  if (found?.kind !== kind) throw new Refused(STATUS.failure, 'no such handle');
  return found as Extract<OpenFile | OpenDirectory, { kind: K }>;
}

function ok(id: number): PacketWriter {
  return status(id, STATUS.ok, '');
}

/** The answer that says how a request went. */
export function status(id: number, code: number, message: string): PacketWriter {
  return new PacketWriter(ANSWER.status, id).uint32(code).text(message).text('');
}

function oneName(id: number, path: string): PacketWriter {
  return new PacketWriter(ANSWER.name, id).uint32(1).text(path).text(path).attributes({});
}
