import { AppError, fail } from '../../../../src/errors/app-error.ts';
import type { DirectoryEntry } from './box-files.ts';
import { below } from './paths.ts';
import { Batch } from './remote/batch.ts';
import { E, fileError } from './remote/errno.ts';
import type { RemoteFiles } from './remote/files.ts';
import { AT_FDCWD, AT_REMOVEDIR, O } from './remote/numbers.ts';

/** How many directories below each other are gone into; each is an open descriptor in the box. */
export const MAX_DEPTH = 400;
/** Names that are removed in one round trip. */
const AT_ONCE = 200;
/** How often a directory is emptied again that somebody fills meanwhile. */
const ROUNDS = 5;
/** Names that one call removes: a process that lies could go on for ever. */
const MAX_NAMES = 10_000_000;

/** A directory that is open in the box. */
interface Open {
  readonly fd: number;
  readonly path: string;
  readonly depth: number;
  /** What the whole removal has seen so far. */
  readonly seen: { names: number };
}

/**
 * Removes a directory and what is in it. Every step goes from an open directory to a name in it and through no
 * link, so that what is swapped meanwhile changes what is removed, but never where.
 * Errors: file_not_found, not_a_directory, directory_not_empty when others go on filling it, file_denied.
 */
export async function removeTree(files: RemoteFiles, path: string): Promise<void> {
  const seen = { names: 0 };
  for (let round = 1; ; round++) {
    await emptyAt(files, { fd: AT_FDCWD, path, depth: 0, seen }, path);
    try {
      return await files.removeDirectory(path);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'directory_not_empty' || round === ROUNDS)
        throw error;
    }
  }
}

/** Opens a directory by its name in another one and removes what is in it. */
async function emptyAt(files: RemoteFiles, parent: Open, name: string): Promise<void> {
  const path = parent.depth === 0 ? name : below(parent.path, name);
  if (parent.depth >= MAX_DEPTH)
    throw fail('file_failed', { path, why: `it is more than ${MAX_DEPTH} directories deep` });
  const fd = await files.openDirectory(name, parent.fd, O.NOFOLLOW);
  try {
    const open = { ...parent, fd, path, depth: parent.depth + 1 };
    for (;;) {
      const entries = await files.readDirectory(fd, path);
      if (!entries) return;
      open.seen.names += entries.length;
      if (open.seen.names > MAX_NAMES) throw fail('file_failed', { path, why: 'it has no end' });
      for (let at = 0; at < entries.length; at += AT_ONCE)
        await removeAll(files, open, entries.slice(at, at + AT_ONCE));
    }
  } finally {
    await files.closeDirectory(fd);
  }
}

async function removeAll(files: RemoteFiles, open: Open, entries: readonly DirectoryEntry[]): Promise<void> {
  const plain = entries.filter(({ kind }) => kind !== 'directory').map(({ name }) => name);
  const directories = entries.filter(({ kind }) => kind === 'directory').map(({ name }) => name);
  const errors = await unlink(files, open, plain, 0);
  for (const [i, errno] of errors.entries()) {
    const name = plain[i] ?? '';
    if (errno === E.ISDIR) directories.push(name);
    else if (errno !== 0 && errno !== E.NOENT) throw fileError(errno, below(open.path, name));
  }
  for (const name of directories) await removeBelow(files, open, name);
}

async function removeBelow(files: RemoteFiles, open: Open, name: string): Promise<void> {
  try {
    await emptyAt(files, open, name);
  } catch (error) {
    if (!isGone(error)) throw error;
  }
  const [errno = 0] = await unlink(files, open, [name], AT_REMOVEDIR);
  if (errno === E.NOTDIR) await unlink(files, open, [name], 0);
  else if (errno !== 0 && errno !== E.NOENT && errno !== E.NOTEMPTY)
    throw fileError(errno, below(open.path, name));
}

/** Somebody removed or swapped it a moment ago. */
function isGone(error: unknown): boolean {
  return (
    error instanceof AppError &&
    (error.code === 'file_not_found' || error.code === 'not_a_directory' || isLink(error))
  );
}

function isLink({ code, message }: AppError): boolean {
  return code === 'file_failed' && message.includes('ELOOP');
}

/** Removes names in an open directory; answers the errno of each, 0 for none. */
async function unlink(
  files: RemoteFiles,
  open: Open,
  names: readonly string[],
  flags: number,
): Promise<number[]> {
  if (names.length === 0) return [];
  const batch = new Batch();
  for (const name of names) batch.call('unlinkat', [open.fd, batch.path(name), flags]);
  const { results } = await files.server.run(batch);
  return results.map((result) => (result < 0 ? -result : 0));
}
