import { invalid } from '../../../../src/errors/app-error.ts';
import { encodeName } from './remote/names.ts';

/** The longest path that the kernel takes, with its end (PATH_MAX). */
const MAX_PATH = 4096;

/**
 * Refuses a path that cannot be meant: one that is relative, holds a NUL, is too long or climbs above the root by its own
 * words. What it leads to is decided inside the sandbox. Errors: invalid_argument naming the field.
 */
export function checkPath(field: string, path: string): string {
  const problem = problemOf(path);
  if (problem) throw invalid({ field, description: `${JSON.stringify(path.slice(0, 200))} ${problem}` });
  return path;
}

function problemOf(path: string): string | undefined {
  if (path === '') return 'is empty';
  if (path.includes('\0')) return 'holds a NUL character';
  if (!path.startsWith('/')) return 'is not absolute';
  if (encodeName(path).length >= MAX_PATH) return `is longer than ${MAX_PATH - 1} bytes`;
  let depth = 0;
  for (const part of path.split('/')) {
    if (part === '..') depth--;
    else if (part !== '' && part !== '.') depth++;
    if (depth < 0) return 'leads out of the root';
  }
  return undefined;
}

/** The path without slashes at its end: with them, a link would be followed. */
export function bare(path: string): string {
  return path.replace(/(?<=.)\/+$/, '');
}

/** Whether a path is the root by its own words. */
export function isRoot(path: string): boolean {
  return path.split('/').every((part) => part === '' || part === '.');
}

/** The directory that the last part of a path is in. */
export function parentOf(path: string): string {
  const short = bare(path);
  return short.slice(0, short.lastIndexOf('/')) || '/';
}

/** The last part of a path; empty for the root. */
export function nameOf(path: string): string {
  const short = bare(path);
  return short.slice(short.lastIndexOf('/') + 1);
}

/** A path below a directory. */
export function below(directory: string, name: string): string {
  return directory.endsWith('/') ? directory + name : `${directory}/${name}`;
}

/** The directories above a path from the root down, without the root. */
export function ancestorsOf(path: string): string[] {
  const parts = parentOf(path).split('/').filter(Boolean);
  return parts.map((_, i) => `/${parts.slice(0, i + 1).join('/')}`);
}

/** An octal mode spelled as a decimal integer (755) as a mode. Errors: invalid_argument naming the field. */
export function readMode(field: string, spelled: number): number {
  const text = String(spelled);
  if (!/^[0-7]{1,4}$/.test(text))
    throw invalid({ field, description: 'must be an octal mode spelled as a number, such as 755' });
  return Number.parseInt(text, 8);
}

/** A mode as an octal number spelled as a decimal integer. */
export function spellMode(mode: number): number {
  return Number(mode.toString(8));
}
