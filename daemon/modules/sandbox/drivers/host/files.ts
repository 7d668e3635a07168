import { lstatSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';

/** Replaces a small file as a whole: readers see the old text or the new one. */
export function writeWhole(path: string, text: string | Uint8Array, mode = 0o600): void {
  const part = `${path}.${process.pid}.${crypto.randomUUID().slice(0, 8)}`;
  writeFileSync(part, text, { mode });
  renameSync(part, path);
}

/** The text of a small file; undefined when it is not there. */
export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** The JSON of a small file; undefined when it is not there or not whole. */
export function readJson<T>(path: string): T | undefined {
  const text = readText(path);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as T;
  } catch {
    return undefined;
  }
}

/** Whether something is at this path; a dangling link counts. */
export function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** The errno name of an error of node:fs. */
export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

/** Brings what was written to a file, or the names in a folder, onto the disk. Errors: those of node:fs. */
export async function flush(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
