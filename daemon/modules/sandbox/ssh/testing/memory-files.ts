import { posix } from 'node:path';
import { fail } from '../../../../../src/errors/app-error.ts';
import type { BoxFile, BoxFiles, DirectoryEntry, FileStat, OpenMode } from '../../files/box-files.ts';

interface Node {
  kind: 'file' | 'directory' | 'symlink';
  bytes: Uint8Array;
  target: string;
  mode: number;
  modifiedAt: number;
}

/** Files in memory, for tests of what speaks to files. Links are kept and not followed. */
export class MemoryFiles implements BoxFiles {
  readonly nodes = new Map<string, Node>([['/', node('directory')]]);
  readonly calls: string[] = [];
  openFiles = 0;
  isClosed = false;
  /** Called before each read and write; whoever tests order makes it wait. */
  before: (what: string) => Promise<void> = async () => undefined;

  async stat(path: string): Promise<FileStat> {
    return this.lstat(path);
  }

  async lstat(path: string): Promise<FileStat> {
    return statOf(this.get(path));
  }

  async readLink(path: string): Promise<string> {
    return this.get(path).target;
  }

  async realPath(path: string): Promise<string> {
    this.get(path);
    return posix.resolve(path);
  }

  async *list(path: string): AsyncIterable<readonly DirectoryEntry[]> {
    const folder = posix.resolve(path);
    if (this.get(path).kind !== 'directory') throw fail('not_a_directory', { path });
    const names = [...this.nodes.keys()].filter((one) => one !== '/' && posix.dirname(one) === folder);
    for (let i = 0; i < names.length; i += 64)
      yield names.slice(i, i + 64).map((one) => ({ name: posix.basename(one), kind: this.get(one).kind }));
  }

  async open(path: string, how: OpenMode): Promise<BoxFile> {
    const known = this.nodes.get(posix.resolve(path));
    if (known && how.exclusive) throw fail('file_exists', { path });
    if (!known && !how.create) throw fail('file_not_found', { path });
    const made = known ?? node('file', how.mode);
    this.nodes.set(posix.resolve(path), made);
    if (how.truncate) made.bytes = new Uint8Array();
    this.openFiles++;
    return new MemoryFile(this, made);
  }

  async makeDirectory(path: string, mode: number): Promise<void> {
    if (this.nodes.has(posix.resolve(path))) throw fail('file_exists', { path });
    this.nodes.set(posix.resolve(path), node('directory', mode));
  }

  async removeDirectory(path: string): Promise<void> {
    for await (const batch of this.list(path))
      if (batch.length > 0) throw fail('directory_not_empty', { path });
    this.nodes.delete(posix.resolve(path));
  }

  async remove(path: string): Promise<void> {
    this.get(path);
    this.nodes.delete(posix.resolve(path));
  }

  async rename(from: string, to: string): Promise<void> {
    this.nodes.set(posix.resolve(to), this.get(from));
    this.nodes.delete(posix.resolve(from));
  }

  async symlink(target: string, path: string): Promise<void> {
    this.nodes.set(posix.resolve(path), { ...node('symlink'), target });
  }

  async link(from: string, to: string): Promise<void> {
    this.nodes.set(posix.resolve(to), this.get(from));
  }

  async setMode(path: string, mode: number): Promise<void> {
    this.get(path).mode = mode;
  }

  async setOwner(path: string): Promise<void> {
    throw fail('file_denied', { path, why: 'it belongs to somebody else' });
  }

  async setTimes(path: string, _accessedAt: number, modifiedAt: number): Promise<void> {
    this.get(path).modifiedAt = modifiedAt;
  }

  async truncate(path: string, size: number): Promise<void> {
    const file = this.get(path);
    file.bytes = resized(file.bytes, size);
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }

  private get(path: string): Node {
    const found = this.nodes.get(posix.resolve(path));
    if (!found) throw fail('file_not_found', { path });
    return found;
  }
}

class MemoryFile implements BoxFile {
  constructor(
    private readonly files: MemoryFiles,
    private readonly node: Node,
  ) {}

  async stat(): Promise<FileStat> {
    return statOf(this.node);
  }

  async read(position: number, length: number): Promise<Uint8Array> {
    await this.files.before(`read ${position}`);
    this.files.calls.push(`read ${position}`);
    return this.node.bytes.slice(position, position + length);
  }

  async write(position: number, bytes: Uint8Array): Promise<void> {
    await this.files.before(`write ${position}`);
    this.files.calls.push(`write ${position}`);
    this.node.bytes = resized(this.node.bytes, Math.max(this.node.bytes.length, position + bytes.length));
    this.node.bytes.set(bytes, position);
  }

  async setMode(mode: number): Promise<void> {
    this.node.mode = mode;
  }

  async setOwner(): Promise<void> {
    throw fail('file_denied', { path: '', why: 'it belongs to somebody else' });
  }

  async setTimes(_accessedAt: number, modifiedAt: number): Promise<void> {
    this.node.modifiedAt = modifiedAt;
  }

  async truncate(size: number): Promise<void> {
    this.node.bytes = resized(this.node.bytes, size);
  }

  async sync(): Promise<void> {
    this.files.calls.push('sync');
  }

  async close(): Promise<void> {
    this.files.calls.push('close');
    this.files.openFiles--;
  }
}

function node(kind: Node['kind'], mode = 0o755): Node {
  return { kind, bytes: new Uint8Array(), target: '', mode, modifiedAt: 0 };
}

function resized(bytes: Uint8Array, size: number): Uint8Array {
  const result = new Uint8Array(size);
  result.set(bytes.subarray(0, size));
  return result;
}

function statOf({ kind, bytes, mode, modifiedAt }: Node): FileStat {
  const times = { modifiedAt, accessedAt: modifiedAt, createdAt: modifiedAt };
  return { kind, size: bytes.length, mode, uid: 1000, gid: 1000, ...times, inode: '1' };
}
