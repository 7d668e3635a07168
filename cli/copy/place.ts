import { basename, join } from 'node:path';
import { invalid } from '../../src/errors/app-error.ts';

/** One side of a copy. */
export type Place =
  | { readonly kind: 'local'; readonly path: string }
  | { readonly kind: 'remote'; readonly sandbox: string; readonly path: string }
  | { readonly kind: 'stream' };

/** A place in a sandbox. */
export type RemotePlace = Extract<Place, { kind: 'remote' }>;

/**
 * Reads a side of a copy: `box:/path`, a path here, or `-`. A path here that looks like the first is written with `./`.
 * Errors: invalid_argument when the path in the sandbox is not absolute.
 */
export function readPlace(field: string, text: string): Place {
  if (text === '-') return { kind: 'stream' };
  const [, sandbox, path] = /^([^/:.][^/:]*):(.*)$/s.exec(text) ?? [];
  if (sandbox === undefined || path === undefined) return { kind: 'local', path: text };
  if (!path.startsWith('/'))
    throw invalid({ field, description: `must be absolute in the sandbox: ${sandbox}:/...` });
  return { kind: 'remote', sandbox, path };
}

/**
 * The parts of a path that a sandbox says is below a directory. What a sandbox says is not to be trusted: a name
 * that would lead elsewhere here is refused. Errors: invalid_argument.
 */
export function partsBelow(root: string, path: string): string[] {
  const start = root.endsWith('/') ? root : `${root}/`;
  const parts = path.startsWith(start) ? path.slice(start.length).split('/') : [''];
  const isBad = parts.some((part) => part === '' || part === '.' || part === '..' || /[\0\\]/.test(part));
  if (isBad)
    throw invalid({ field: 'path', description: `the sandbox names ${JSON.stringify(path)} below ${root}` });
  return parts;
}

/** Where a source goes: into a directory that is there, else to the very path. */
export function into(directory: string, source: string, isDirectory: boolean): string {
  return isDirectory ? join(directory, basename(source)) : directory;
}
