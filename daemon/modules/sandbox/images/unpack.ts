import { chmod, lchown, lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { findProgram, HOST_ENV, HostCommandError, textOf } from '../drivers/host/run.ts';
import { makeOpaque, makeWhiteout } from '../drivers/host/syscalls.ts';
import { asRootOf, type IdRange, withUserNamespace } from '../drivers/host/user-namespace.ts';
import { StreamSource } from './byte-source.ts';
import { type ImageBounds, unusable } from './image.ts';
import { type LayerMarks, safeLayer } from './layer-filter.ts';

/** What a layer is unpacked with. */
export interface UnpackOptions {
  readonly range: IdRange;
  readonly bounds: ImageBounds;
  readonly signal?: AbortSignal;
}

const UNPACK = ['tar', '--extract', '--preserve-permissions', '--numeric-owner', '--file', '-'];

/**
 * Unpacks one layer (a tar stream without compression) into a new folder, ready to be a lower layer of an
 * overlay, and gives the sha256 of the stream. The archive is not trusted: it is read and written anew here,
 * and unpacked by a process that is root of a user namespace only. On the host that process is an id that owns
 * nothing but the new folder, and the folders above are closed to it. Errors: UnusableImage, HostCommandError.
 */
export async function unpackLayer(
  stream: AsyncIterable<Uint8Array>,
  dir: string,
  { range, bounds, signal }: UnpackOptions,
): Promise<string> {
  const hasher = new Bun.CryptoHasher('sha256');
  const source = new StreamSource(hashed(stream, hasher, signal), bounds.layerBytes);
  const marks: LayerMarks = { whiteouts: new Set(), opaque: new Set() };
  await mkdir(dir, { mode: 0o755 });
  await chmod(dir, 0o755);
  await lchown(dir, range.base, range.base);
  await feed(safeLayer(source, marks, bounds), dir, range);
  await source.drain();
  await applyMarks(dir, marks, range.base);
  return `sha256:${hasher.digest('hex')}`;
}

async function* hashed(
  stream: AsyncIterable<Uint8Array>,
  hasher: Bun.CryptoHasher,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  for await (const piece of stream) {
    signal?.throwIfAborted();
    hasher.update(piece);
    yield piece;
  }
}

async function feed(archive: AsyncGenerator<Uint8Array>, dir: string, range: IdRange): Promise<void> {
  await withUserNamespace(range, async (path) => {
    const tar = start(asRootOf(path, UNPACK), dir);
    const said = textOf(tar.stderr);
    const broken = await pour(archive, tar.stdin).catch((error: unknown) => error);
    if (broken) tar.kill('SIGKILL');
    const code = await tar.exited;
    // A pipe that broke tells less than the program that closed it.
    const closedByTar = broken !== undefined && String(broken).includes('EPIPE');
    if (broken && !closedByTar) throw broken;
    if (code !== 0) throw new HostCommandError('tar', code, await said);
  });
}

function start([program, ...rest]: readonly [string, ...string[]], cwd: string) {
  return Bun.spawn([findProgram(program) ?? program, ...rest], {
    env: { ...HOST_ENV },
    cwd,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
}

async function pour(archive: AsyncGenerator<Uint8Array>, to: Bun.FileSink): Promise<void> {
  for await (const piece of archive) {
    to.write(piece);
    await to.flush();
  }
  await to.end();
}

/** Notes in the folder what the layer takes away. Nobody else works in it any more, so looking first is safe. */
async function applyMarks(dir: string, marks: LayerMarks, owner: number): Promise<void> {
  for (const path of marks.whiteouts) {
    await makeFolders(dir, path.split('/').slice(0, -1), owner);
    const to = join(dir, path);
    const there = await lstat(to).catch(() => undefined);
    if (!there) makeWhiteout(to);
    else if (there.isDirectory()) makeOpaque(to);
  }
  for (const path of marks.opaque) {
    if (path === '') continue;
    await makeFolders(dir, path.split('/'), owner);
    makeOpaque(join(dir, path));
  }
}

/** Makes the folders on the way to a path, none of which may be anything but a folder. */
async function makeFolders(dir: string, segments: readonly string[], owner: number): Promise<void> {
  let path = dir;
  for (const segment of segments) {
    path = join(path, segment);
    const there = await lstat(path).catch(() => undefined);
    if (there?.isDirectory()) continue;
    if (there) throw unusable('it deletes something below a file');
    await mkdir(path, { mode: 0o755 });
    await chmod(path, 0o755);
    await lchown(path, owner, owner);
  }
}
