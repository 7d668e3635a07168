import { AppError, fail } from '../../../../src/errors/app-error.ts';
import type { DirectoryEntry, FileStat } from './box-files.ts';
import { below } from './paths.ts';
import { Batch } from './remote/batch.ts';
import { addStat } from './remote/file.ts';
import type { RemoteFiles } from './remote/files.ts';
import { AT_FDCWD, O } from './remote/numbers.ts';
import { parseStatx, STATX_SIZE } from './remote/stat.ts';

/** Paths that are looked at in one round trip. */
const AT_ONCE = 100;
/** What directories that are still to be gone into may take, in characters of their paths: a box can have any number. */
const MAX_WAITING = 32 * 1024 * 1024;
/** Longer paths cannot be opened. */
const MAX_PATH = 4096;

/** A path below a directory, with what it is. */
export interface Found {
  readonly path: string;
  readonly stat: FileStat;
}

/** How far a walk goes. */
export interface WalkOptions {
  /** Directories below each other; 1 is what is in the first one. */
  readonly depth: number;
  readonly signal?: AbortSignal;
}

/**
 * What is below a directory, a directory at a time, each before what is in it. Links are not followed; what is gone or may not
 * be read is passed over. Errors: those of opening the first directory; resource_exhausted when too many directories wait.
 */
export async function* walk(
  files: RemoteFiles,
  root: string,
  { depth, signal }: WalkOptions,
): AsyncGenerator<readonly Found[]> {
  const queue = [{ path: root, level: 1 }];
  let waiting = 0;
  for (let next = queue.shift(); next; next = queue.shift()) {
    waiting -= next.path.length;
    for await (const entries of entriesOf(files, next.path, next.path === root)) {
      signal?.throwIfAborted();
      for (let at = 0; at < entries.length; at += AT_ONCE) {
        const part = entries.slice(at, at + AT_ONCE).map(({ name }) => below(next.path, name));
        const found = await statAll(
          files,
          part.filter((path) => path.length < MAX_PATH),
        );
        for (const { path, stat } of next.level < depth ? found : []) {
          if (stat.kind !== 'directory') continue;
          queue.push({ path, level: next.level + 1 });
          waiting += path.length;
        }
        if (waiting > MAX_WAITING)
          throw fail('resource_exhausted', { message: `There are too many directories below ${root}.` });
        yield found;
      }
    }
  }
}

/** Looks at paths without following links; those that are gone or hidden are left out. */
export async function statAll(files: RemoteFiles, paths: readonly string[]): Promise<Found[]> {
  if (paths.length === 0) return [];
  const batch = new Batch();
  for (const path of paths) addStat(batch, path, false);
  const { results, out } = await files.server.run(batch);
  return paths.flatMap((path, i) => {
    if (results[i] !== 0) return [];
    return [{ path, stat: parseStatx(out.subarray(i * STATX_SIZE, (i + 1) * STATX_SIZE)) }];
  });
}

async function* entriesOf(
  files: RemoteFiles,
  path: string,
  isRoot: boolean,
): AsyncGenerator<readonly DirectoryEntry[]> {
  let fd: number;
  try {
    fd = await files.openDirectory(path, AT_FDCWD, isRoot ? 0 : O.NOFOLLOW);
  } catch (error) {
    if (isRoot || !(error instanceof AppError) || error.code === 'unavailable') throw error;
    return;
  }
  try {
    for (let part = await files.readDirectory(fd, path); part; part = await files.readDirectory(fd, path))
      yield part;
  } finally {
    await files.closeDirectory(fd);
  }
}
