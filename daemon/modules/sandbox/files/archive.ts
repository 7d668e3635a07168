import { endOfArchive, padding, writeHeader } from '../images/tar-writer.ts';
import type { FileStat } from './box-files.ts';
import { nameOf } from './paths.ts';
import { readBytes } from './read.ts';
import type { RemoteFiles } from './remote/files.ts';
import { MAX_DEPTH } from './tree.ts';
import { type Found, walk } from './walk.ts';

/**
 * A directory as a tar archive whose entries begin with its name: directories, files and links; other kinds are left out.
 * It is made as it is read. A file that changes meanwhile is cut or filled up to the size it had.
 */
export async function* archive(
  files: RemoteFiles,
  root: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const name = nameOf(root) || 'root';
  yield headerOf(`${name}/`, await files.stat(root), '');
  for await (const found of walk(files, root, { depth: MAX_DEPTH, signal }))
    for (const one of found)
      yield* entry(files, one, `${name}${one.path.slice(root === '/' ? 0 : root.length)}`);
  yield endOfArchive();
}

async function* entry(files: RemoteFiles, { path, stat }: Found, name: string): AsyncGenerator<Uint8Array> {
  if (stat.kind === 'directory') yield headerOf(`${name}/`, stat, '');
  else if (stat.kind === 'symlink') {
    const link = await files.readLink(path).catch(() => undefined);
    if (link !== undefined) yield headerOf(name, stat, link);
  } else if (stat.kind === 'file') yield* fileEntry(files, path, name);
}

async function* fileEntry(files: RemoteFiles, path: string, name: string): AsyncGenerator<Uint8Array> {
  const file = await files.open(path, { read: true }).catch(() => undefined);
  if (!file) return;
  try {
    const stat = await file.stat();
    yield headerOf(name, stat, '');
    let left = stat.size;
    for await (const bytes of readBytes(file, { start: 0, end: stat.size })) {
      left -= bytes.length;
      yield bytes;
    }
    for (; left > 0; left -= ZEROS.length) yield ZEROS.subarray(0, left);
    yield padding(stat.size);
  } finally {
    await file.close();
  }
}

const ZEROS = new Uint8Array(64 * 1024);

function headerOf(
  path: string,
  { kind, mode, uid, gid, modifiedAt, size }: FileStat,
  link: string,
): Uint8Array {
  return writeHeader({
    path,
    link,
    kind,
    mode,
    uid,
    gid,
    mtime: Math.max(0, Math.floor(modifiedAt / 1000)),
    size: kind === 'file' ? size : 0,
  });
}
