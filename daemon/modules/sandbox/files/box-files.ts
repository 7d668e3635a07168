/**
 * The files of one sandbox as a user inside it sees them. Every call is carried out by a process of that user
 * inside the sandbox, so that its kernel decides what a path means: no link, mount or `..` leads out.
 * Paths are absolute. Errors of all: AppError; a missing file is file_not_found naming the path, and the other
 * POSIX errors have codes of their own (permission, exists, not a directory, not empty, disk_full...).
 */
export interface BoxFiles {
  /** What a path is; links are followed. */
  stat(path: string): Promise<FileStat>;
  /** What a path is; a link is itself. */
  lstat(path: string): Promise<FileStat>;
  /** Where a link points. */
  readLink(path: string): Promise<string>;
  /** The path without links, dots and doubled slashes. */
  realPath(path: string): Promise<string>;
  /** The names in a directory without `.` and `..`, some at a time. */
  list(path: string): AsyncIterable<readonly DirectoryEntry[]>;
  open(path: string, how: OpenMode): Promise<BoxFile>;
  makeDirectory(path: string, mode: number): Promise<void>;
  removeDirectory(path: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Replaces what is at `to`. */
  rename(from: string, to: string): Promise<void>;
  symlink(target: string, path: string): Promise<void>;
  link(from: string, to: string): Promise<void>;
  setMode(path: string, mode: number): Promise<void>;
  setOwner(path: string, uid: number, gid: number): Promise<void>;
  /** Times in milliseconds since 1970. */
  setTimes(path: string, accessedAt: number, modifiedAt: number): Promise<void>;
  truncate(path: string, size: number): Promise<void>;
  /** Ends the process inside. Open files are closed. */
  close(): Promise<void>;
}

/** How a file is opened (open(2)). */
export interface OpenMode {
  readonly read?: boolean;
  readonly write?: boolean;
  readonly append?: boolean;
  /** Makes it when it is missing. */
  readonly create?: boolean;
  /** Only if it is missing; with `create`. */
  readonly exclusive?: boolean;
  readonly truncate?: boolean;
  /** Permission bits of a file that is made; 0o644 when absent. */
  readonly mode?: number;
}

/** An open file. */
export interface BoxFile {
  stat(): Promise<FileStat>;
  /** Up to `length` bytes at `position`; fewer, or none, at the end. */
  read(position: number, length: number): Promise<Uint8Array>;
  /** Writes all of the bytes. Errors: disk_full. */
  write(position: number, bytes: Uint8Array): Promise<void>;
  setMode(mode: number): Promise<void>;
  setOwner(uid: number, gid: number): Promise<void>;
  setTimes(accessedAt: number, modifiedAt: number): Promise<void>;
  truncate(size: number): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** What is known of a file. */
export interface FileStat {
  readonly kind: 'file' | 'directory' | 'symlink' | 'other';
  readonly size: number;
  /** Permission bits with set-id and sticky: 0 to 0o7777. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Milliseconds since 1970. */
  readonly modifiedAt: number;
  readonly accessedAt: number;
  readonly createdAt: number;
  /** The file's place on its disk, to see that two names are one file. */
  readonly inode: string;
}

/** A name in a directory. */
export interface DirectoryEntry {
  readonly name: string;
  readonly kind: FileStat['kind'] | 'unknown';
}
