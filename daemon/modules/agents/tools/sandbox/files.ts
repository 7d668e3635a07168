import { AppError, fail } from '../../../../../src/errors/app-error.ts';
import { nearest } from '../../../../../src/kit/nearest.ts';
import type { FileWhere, OwnFiles } from '../../../sandbox/index.ts';
import { failed, type ToolContext, type ToolOutcome } from '../tool.ts';
import type { SandboxParts } from './command.ts';
import type { Place } from './session-sandbox.ts';

/** The largest text that is changed: it is held in memory. */
const MOST_TEXT = 8 * 1024 * 1024;
/** A file with a NUL this early is no text. */
const LOOKED_AT = 8 * 1024;
const MOST_NAMES = 2_000;

/** Does work on the files of the session's sandbox. A file that is missing is told with those that are called alike. */
export async function inPlace(
  { own, places }: SandboxParts,
  context: ToolContext,
  work: (place: Place, where: FileWhere) => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  const place = await places.ready(context);
  const where = { tenant: place.tenant, sandbox: place.sandboxId };
  const outcome = await work(place, where).catch(async (error: unknown) => {
    if (error instanceof AppError && error.code === 'file_not_found')
      return failed(await missing(own.files, where, String(error.data.path)));
    throw error;
  });
  return place.news === '' ? outcome : { ...outcome, output: `${place.news}\n${outcome.output}` };
}

/**
 * A whole text file. Errors: those of reading; file_failed when it is no UTF-8 text or larger than 8 MiB.
 */
export async function readText(files: OwnFiles, where: FileWhere, path: string): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of files.read(where, path)) {
    if (size === 0) checkText(path, part);
    size += part.length;
    if (size > MOST_TEXT) throw fail('file_failed', { path, why: `it is larger than ${MOST_TEXT} bytes` });
    parts.push(part);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(parts));
  } catch {
    throw fail('file_failed', { path, why: 'it is not UTF-8 text' });
  }
}

/** Errors: file_failed when the first bytes of a file are no text. */
export function checkText(path: string, first: Uint8Array): void {
  if (first.subarray(0, LOOKED_AT).includes(0))
    throw fail('file_failed', { path, why: 'it is binary; look at it with sandbox_shell' });
}

/** Writes a whole text. */
export function writeText(files: OwnFiles, where: FileWhere, path: string, text: string): Promise<number> {
  return files.write(where, path, bytesOf(text));
}

/** What tells one content from another. */
export function hashOf(text: string): string {
  return new Bun.CryptoHasher('sha256').update(text).digest('hex');
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/** Says that a file is missing, and what there is that is called alike. */
async function missing(files: OwnFiles, where: FileWhere, path: string): Promise<string> {
  const at = path.lastIndexOf('/');
  const [directory, name] = [path.slice(0, at) || '/', path.slice(at + 1)];
  try {
    const { entries } = await files.list(where, directory, 1, MOST_NAMES);
    const names = entries.map((entry) => entry.path.slice(entry.path.lastIndexOf('/') + 1));
    const like = nearest(name, names);
    const said = like.length > 0 ? `nearest: ${like.join(', ')}` : someOf(names);
    return `There is no file ${path}; ${said}.`;
  } catch {
    return `There is no file ${path}, and no directory ${directory}.`;
  }
}

function someOf(names: readonly string[]): string {
  if (names.length === 0) return 'its directory is empty';
  const more = names.length > 10 ? `, and ${names.length - 10} more` : '';
  return `its directory has ${names.slice(0, 10).join(', ')}${more}`;
}
