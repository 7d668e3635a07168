import { AppError, fail } from '../../../../src/errors/app-error.ts';
import type { FileStat } from './box-files.ts';
import { bare, below, parentOf } from './paths.ts';
import { readBytes } from './read.ts';
import type { RemoteFiles } from './remote/files.ts';
import { MAX_DEPTH, removeTree } from './tree.ts';

/** A path and where it goes. */
export interface Move {
  readonly src: string;
  readonly dest: string;
}

/**
 * Moves paths, as rename(2) does: a file takes the place of a file, a directory that of an empty one. Nothing is moved when a source
 * is missing. Errors: file_not_found, is_a_directory, not_a_directory, directory_not_empty, file_denied, disk_full.
 */
export async function moveAll(files: RemoteFiles, moves: readonly Move[]): Promise<void> {
  for (const { src } of moves) await files.lstat(bare(src));
  for (const { src, dest } of moves) await move(files, bare(src), bare(dest));
}

async function move(files: RemoteFiles, src: string, dest: string): Promise<void> {
  try {
    await files.rename(src, dest);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === 'cross_device') return moveAcross(files, src, dest);
    if (error.code !== 'file_not_found') throw error;
    // The source was there: what is missing is the directory that it goes to.
    await files.lstat(src);
    throw fail('file_not_found', { path: parentOf(dest) });
  }
}

/** To another file system: a copy beside the target, put in its place when it is whole. */
async function moveAcross(files: RemoteFiles, src: string, dest: string): Promise<void> {
  const part = below(parentOf(dest), `.svc-${crypto.randomUUID()}.part`);
  const stat = await files.lstat(src);
  try {
    await copy(files, src, part, stat, 0);
    await files.rename(part, dest);
  } catch (error) {
    await removeAny(files, part, stat).catch(() => undefined);
    throw error;
  }
  await removeAny(files, src, stat);
}

async function copy(
  files: RemoteFiles,
  from: string,
  to: string,
  stat: FileStat,
  depth: number,
): Promise<void> {
  if (depth > MAX_DEPTH)
    throw fail('file_failed', { path: from, why: `it is more than ${MAX_DEPTH} directories deep` });
  if (stat.kind === 'symlink') return files.symlink(await files.readLink(from), to);
  if (stat.kind === 'other')
    throw fail('file_failed', { path: from, why: 'only files can change file systems' });
  if (stat.kind === 'file') await copyFile(files, from, to);
  else {
    await files.makeDirectory(to, 0o700);
    for await (const entries of files.list(from))
      for (const { name } of entries)
        await copy(
          files,
          below(from, name),
          below(to, name),
          await files.lstat(below(from, name)),
          depth + 1,
        );
  }
  await files.setMode(to, stat.mode);
  await files.setTimes(to, stat.accessedAt, stat.modifiedAt);
}

async function copyFile(files: RemoteFiles, from: string, to: string): Promise<void> {
  const source = await files.open(from, { read: true });
  try {
    const target = await files.open(to, { write: true, create: true, exclusive: true, mode: 0o600 });
    try {
      let at = 0;
      const { size: end } = await source.stat();
      for await (const bytes of readBytes(source, { start: 0, end })) {
        await target.write(at, bytes);
        at += bytes.length;
      }
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function removeAny(files: RemoteFiles, path: string, { kind }: FileStat): Promise<void> {
  if (kind === 'directory') await removeTree(files, path);
  else await files.remove(path);
}
