import { AppError } from '../../../../src/errors/app-error.ts';
import { type Block, blocksOf } from './blocks.ts';
import type { FileStat } from './box-files.ts';
import { makeDirectories, NO_OWNER, type Owner } from './make.ts';
import { bare, below, parentOf } from './paths.ts';
import { Batch } from './remote/batch.ts';
import { E, fileError } from './remote/errno.ts';
import type { RemoteFile } from './remote/file.ts';
import type { RemoteFiles } from './remote/files.ts';
import { AT_FDCWD, O } from './remote/numbers.ts';

const NEW_MODE = 0o644;
/** Nobody else reads a file before it is whole. */
const PART_MODE = 0o600;
/** Blocks that are on their way into a box at once. */
const AHEAD = 4;
/**
 * What a file has from here on goes past the page cache: it would push everything else of the box out of its memory,
 * and pages that nobody has asked for yet cost more than the disk.
 */
const DIRECT_FROM = 16 * 1024 * 1024;

/** How a file is to be. */
export interface NewFile {
  readonly path: string;
  /** That of the file that is there, else 0644, when absent. */
  readonly mode?: number;
  readonly owner?: Owner;
}

/** The processes that a file is written over: one for small contents, one for large ones. */
export interface Lanes {
  readonly small: RemoteFiles;
  readonly large: () => Promise<RemoteFiles>;
}

/**
 * Writes a whole file: beside its place under another name, and then in its place, so that nobody sees half of it.
 * Directories above it are made. A link at its place stays, and the file behind it is written. Answers its size.
 * Errors: is_a_directory, file_failed (a pipe or a device), file_denied, disk_full; then nothing is left.
 */
export async function writeFile(
  lanes: Lanes,
  file: NewFile,
  content: AsyncIterable<Uint8Array>,
): Promise<number> {
  const { small } = lanes;
  const place = await placeOf(small, file);
  const blocks = blocksOf(content)[Symbol.asyncIterator]();
  try {
    const first = await blocks.next();
    const second: IteratorResult<Block> = first.done ? first : await blocks.next();
    if (second.done) {
      const bytes = first.value ? bytesOf(first.value) : new Uint8Array(0);
      await writeSmall(small, place, bytes);
      first.value?.memory.giveBack();
      return bytes.length;
    }
    const list = [first, second].flatMap(({ done, value }) => (done ? [] : [value]));
    return await writeLarge(await lanes.large(), place, list, blocks);
  } finally {
    await blocks.return?.(undefined);
  }
}

interface Place {
  /** Where it goes when it is whole. */
  readonly path: string;
  readonly part: string;
  readonly mode: number;
  readonly owner: Owner;
}

async function placeOf(files: RemoteFiles, file: NewFile): Promise<Place> {
  const [path, there] = await targetOf(files, bare(file.path));
  if (there && there.kind !== 'file')
    throw fileError(there.kind === 'directory' ? E.ISDIR : E.INVAL, file.path);
  const owner = file.owner ?? NO_OWNER;
  if (!there) await makeDirectories(files, parentOf(path), undefined, owner);
  return {
    path,
    part: below(parentOf(path), `.svc-${crypto.randomUUID()}.part`),
    mode: file.mode ?? there?.mode ?? NEW_MODE,
    owner,
  };
}

/** What is at a path, and where a link leads. */
async function targetOf(
  files: RemoteFiles,
  path: string,
): Promise<[path: string, there: FileStat | undefined]> {
  try {
    const there = await files.lstat(path);
    if (there.kind !== 'symlink') return [path, there];
    const target = await files.realPath(path);
    return [target, await files.lstat(target)];
  } catch (error) {
    if (error instanceof AppError && error.code === 'file_not_found') return [path, undefined];
    throw error;
  }
}

/** All of it in one round trip. */
async function writeSmall(files: RemoteFiles, place: Place, bytes: Uint8Array): Promise<void> {
  const batch = new Batch();
  const part = batch.path(place.part);
  const flags = O.WRITE | O.CREATE | O.EXCLUSIVE | O.NOFOLLOW | O.CLOEXEC;
  const fd = batch.call('openat', [AT_FDCWD, part, flags, PART_MODE], 0);
  batch.call('pwrite', [fd, batch.bytes(bytes), bytes.length, 0], bytes.length);
  addFinish(batch, fd, place, part);
  batch.call('close', [fd]);
  const reply = await files.server.run(batch);
  const result = reply.results[reply.made - 1] ?? -1;
  const isWhole = reply.made === reply.results.length && result >= 0;
  if (isWhole) return;
  const opened = reply.results[0] ?? -1;
  if (opened >= 0) await discard(files, place, opened);
  throw fileError(result < 0 ? -result : E.NOSPC, place.path);
}

async function writeLarge(
  files: RemoteFiles,
  place: Place,
  first: readonly Block[],
  rest: AsyncIterator<Block>,
): Promise<number> {
  const file = await files.open(place.part, { write: true, create: true, exclusive: true, mode: PART_MODE });
  try {
    const size = await pour(file, first, rest);
    const batch = new Batch();
    addFinish(batch, file.fd, place, batch.path(place.part));
    await files.run(batch, place.path);
    return size;
  } catch (error) {
    await files.remove(place.part).catch(() => undefined);
    throw error;
  } finally {
    await file.close().catch(() => undefined);
  }
}

/** Writes block after block, some of them on their way at once. */
async function pour(file: RemoteFile, first: readonly Block[], rest: AsyncIterator<Block>): Promise<number> {
  let size = 0;
  const underWay: Array<Promise<void>> = [];
  const put = async (block: Block) => {
    const writing = file.writeReady(size, block.memory, block.length, { direct: size >= DIRECT_FROM });
    underWay.push(writing.then(() => block.memory.giveBack()));
    underWay.at(-1)?.catch(() => undefined);
    size += block.length;
    if (underWay.length >= AHEAD) await underWay.shift();
  };
  for (const block of first) await put(block);
  for (let next = await rest.next(); !next.done; next = await rest.next()) await put(next.value);
  await Promise.all(underWay);
  return size;
}

/** Owner, mode (an owner takes set-id bits away), and the name. */
function addFinish(
  batch: Batch,
  fd: Parameters<Batch['call']>[1][number],
  { path, mode, owner }: Place,
  part: ReturnType<Batch['path']>,
): void {
  if (owner.uid !== -1 || owner.gid !== -1) batch.call('fchown', [fd, owner.uid, owner.gid], 0);
  batch.call('fchmod', [fd, mode], 0);
  batch.call('renameat2', [AT_FDCWD, part, AT_FDCWD, batch.path(path), 0], 0);
}

async function discard(files: RemoteFiles, place: Place, fd: number): Promise<void> {
  const batch = new Batch();
  batch.call('unlinkat', [AT_FDCWD, batch.path(place.part), 0]);
  batch.call('close', [fd]);
  await files.server.run(batch);
}

function bytesOf({ memory, length }: Block): Uint8Array {
  return memory.contents.subarray(0, length);
}
