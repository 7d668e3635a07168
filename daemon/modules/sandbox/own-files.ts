import type { FileOperations } from './files/index.ts';
import type { Where } from './files/operations.ts';
import type { Narrowing } from './files/search.ts';

export type { Where as FileWhere } from './files/operations.ts';

/** Files of a sandbox, as another module works on them: as the sandbox's own user. Paths are absolute. */
export interface OwnFiles {
  /** The bytes of a file from its beginning. Errors: file_not_found, is_a_directory, file_denied, file_failed. */
  read(where: Where, path: string): AsyncGenerator<Uint8Array>;
  /**
   * Writes a whole file, and the directories above it; a reader sees the old one or the new one. Answers its size.
   * Errors: as UploadFile.
   */
  write(where: Where, path: string, content: AsyncIterable<Uint8Array>): Promise<number>;
  /** Removes a file. Errors: file_not_found, is_a_directory. */
  remove(where: Where, path: string): Promise<void>;
  /** What is in a directory and, with `depth`, in those below: sorted by path, the first `limit`. */
  list(where: Where, path: string, depth: number, limit: number): ReturnType<FileOperations['list']>;
  /** Files below a directory whose names, or paths where the glob has a slash, match. */
  find: FileOperations['find'];
  /** Lines that have a pattern, found by a program of the sandbox. */
  search(
    where: Where,
    query: { readonly path: string; readonly pattern: string; readonly narrow?: Narrowing },
    signal: AbortSignal,
  ): ReturnType<FileOperations['search']>;
}

/** The files of sandboxes for other modules, on what the API does with them. */
export function ownFiles(operations: FileOperations): OwnFiles {
  return {
    read: (where, path) => operations.read(where, path),
    write: (where, path, content) => operations.writeWhole(where, path, content),
    remove: (where, path) => operations.removeFiles(where, [path]),
    list: (where, path, depth, limit) => operations.list(where, path, depth, { offset: 0, limit }),
    find: (where, path, pattern, signal) => operations.find(where, path, pattern, signal),
    search: (where, query, signal) => operations.search(where, query, signal),
  };
}
