import { AppError, fail } from '../../../../src/errors/app-error.ts';
import { BOX_UID } from '../drivers/host/user-namespace.ts';
import { readBytes } from './read.ts';
import { E, fileError } from './remote/errno.ts';
import type { RemoteFiles } from './remote/files.ts';
import { MAX_DEPTH } from './tree.ts';
import { walk } from './walk.ts';
import { type Lanes, writeFile } from './write.ts';

/** The largest file whose text is replaced: it is held in memory, twice. */
const MAX_SIZE = 64 * 1024 * 1024;
/** A file with a NUL this early is no text. */
const LOOKED_AT = 8 * 1024;
/** The most files that one call changes or reports. */
const MAX_FILES = 10_000;

/** Text, and what takes its place. Both are taken by the letter: nothing in them has another meaning. */
export interface Replacement {
  readonly old: string;
  readonly new: string;
}

/** What became of one file. */
export interface Outcome {
  readonly file: string;
  readonly success: boolean;
  readonly count: number;
  readonly error: string;
}

/** Every occurrence replaced, from the left, none overlapping; undefined when there is none. */
export function replaceBytes(
  content: Buffer,
  { old, new: by }: Replacement,
): { count: number; bytes: Buffer } | undefined {
  const [wanted, instead] = [Buffer.from(old), Buffer.from(by)];
  const parts: Buffer[] = [];
  let [count, start] = [0, 0];
  for (let at = content.indexOf(wanted); at >= 0; at = content.indexOf(wanted, start)) {
    parts.push(content.subarray(start, at), instead);
    start = at + wanted.length;
    count++;
  }
  if (count === 0) return undefined;
  return { count, bytes: Buffer.concat([...parts, content.subarray(start)]) };
}

/**
 * Replaces text in files by path; answers how often in each. When one is missing or cannot be written, none is changed.
 * Errors: file_not_found, is_a_directory, file_denied, file_failed when it is larger than 64 MB.
 */
export async function replaceIn(
  lanes: Lanes,
  wanted: Readonly<Record<string, Replacement>>,
): Promise<Record<string, number>> {
  for (const path of Object.keys(wanted)) await checkWritable(lanes.small, path);
  const counts: Record<string, number> = {};
  for (const [path, replacement] of Object.entries(wanted)) {
    const content = await readWhole(lanes.small, path);
    const replaced = replaceBytes(content, replacement);
    if (replaced) await rewrite(lanes, path, replaced.bytes);
    counts[path] = replaced?.count ?? 0;
  }
  return counts;
}

/**
 * Replaces text in every text file at or below a path; answers the files that have it. Links are not followed. With `dryRun` nothing is
 * changed. A file that cannot be changed is answered with its error, and the others are changed.
 * Errors: file_not_found, resource_exhausted when more than 10,000 files have it.
 */
export async function replaceBelow(
  lanes: Lanes,
  root: string,
  replacement: Replacement,
  { dryRun, signal }: { readonly dryRun: boolean; readonly signal: AbortSignal },
): Promise<Outcome[]> {
  const { kind } = await lanes.small.stat(root);
  if (kind === 'file') return [await replaceOne(lanes, root, replacement, dryRun)];
  const outcomes: Outcome[] = [];
  for await (const found of walk(lanes.small, root, { depth: MAX_DEPTH, signal })) {
    for (const { path, stat } of found) {
      if (stat.kind !== 'file' || stat.size === 0) continue;
      signal.throwIfAborted();
      const outcome = await replaceOne(lanes, path, replacement, dryRun);
      if (outcome.count > 0 || outcome.error) outcomes.push(outcome);
      if (outcomes.length > MAX_FILES)
        throw fail('resource_exhausted', {
          message: `More than ${MAX_FILES} files have it. Narrow the path.`,
        });
    }
  }
  return outcomes;
}

async function replaceOne(
  lanes: Lanes,
  file: string,
  replacement: Replacement,
  dryRun: boolean,
): Promise<Outcome> {
  try {
    const content = await readWhole(lanes.small, file, true);
    const replaced = content && replaceBytes(content, replacement);
    if (!replaced) return { file, success: true, count: 0, error: '' };
    if (!dryRun) {
      await checkWritable(lanes.small, file);
      await rewrite(lanes, file, replaced.bytes);
    }
    return { file, success: true, count: replaced.count, error: '' };
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'unavailable') throw error;
    return { file, success: false, count: 0, error: error.message };
  }
}

/** The content of a file; with `textOnly` an empty one for what is no text. */
async function readWhole(files: RemoteFiles, path: string, textOnly = false): Promise<Buffer> {
  const file = await files.open(path, { read: true });
  try {
    const { size } = await file.stat();
    if (textOnly && (await file.read(0, LOOKED_AT)).includes(0)) return Buffer.alloc(0);
    if (size > MAX_SIZE) throw fail('file_failed', { path, why: `it is larger than ${MAX_SIZE} bytes` });
    const parts: Uint8Array[] = [];
    for await (const bytes of readBytes(file, { start: 0, end: MAX_SIZE })) parts.push(bytes);
    return Buffer.concat(parts);
  } finally {
    await file.close();
  }
}

async function checkWritable(files: RemoteFiles, path: string): Promise<void> {
  const file = await files.open(path, { read: true, write: true });
  try {
    if ((await file.stat()).size > MAX_SIZE) throw fileError(E.FBIG, path);
  } finally {
    await file.close();
  }
}

/** As a whole where the new file has the same owner; else in place, so that the owner stays. */
async function rewrite(lanes: Lanes, path: string, bytes: Buffer): Promise<void> {
  const { uid, gid } = await lanes.small.stat(path);
  if (uid === BOX_UID && gid === BOX_UID) {
    await writeFile(lanes, { path }, once(bytes));
    return;
  }
  const file = await lanes.small.open(path, { write: true });
  try {
    await file.write(0, bytes);
    await file.truncate(bytes.length);
  } finally {
    await file.close();
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
