import { invalid } from '../../../../src/errors/app-error.ts';
import type { BoxMount } from './driver.ts';

/** Places of a box that are the driver's own, with all that is below them. */
const OWN = ['/proc', '/sys', '/dev', '/.svc', '/run/svc', '/etc/resolv.conf', '/etc/hosts', '/etc/hostname'];
const MAX_LENGTH = 1_024;
/** Letters that no runtime, engine or shell reads as anything but a letter. */
const PLAIN = /^(\/[A-Za-z0-9._+@-]+)+$/;

/** Why a folder cannot be mounted at this path of a box, in words that follow the path; undefined when it can. */
export function badTarget(path: string): string | undefined {
  if (path.length > MAX_LENGTH) return `must be at most ${MAX_LENGTH} characters`;
  if (!PLAIN.test(path))
    return 'must be an absolute path below /, of letters, digits and . _ + @ -, without a slash at its end';
  if (hasDots(path)) return 'must not have . or .. in it';
  const own = OWN.find((place) => isWithin(path, place));
  return own && `must not be ${own} or below it`;
}

/** Why a folder below a mounted one cannot be named so; undefined when it can. */
export function badSubpath(path: string): string | undefined {
  if (path.length > MAX_LENGTH) return `must be at most ${MAX_LENGTH} characters`;
  const isPlain = path !== '' && !path.includes('\0') && !path.startsWith('/') && !path.endsWith('/');
  if (!isPlain || path.includes('//')) return 'must be a relative path, such as data/today';
  return hasDots(`/${path}`) ? 'must not have . or .. in it' : undefined;
}

/** Refuses mounts that no driver makes. Errors: invalid_argument. */
export function checkMounts(mounts: readonly Pick<BoxMount, 'target'>[]): void {
  for (const { target } of mounts) {
    const bad = badTarget(target);
    if (bad) throw invalid({ field: 'mounts', description: `${JSON.stringify(target)} ${bad}` });
  }
  const both = conflict(mounts.map(({ target }) => target));
  if (both) throw invalid({ field: 'mounts', description: `${both.join(' and ')} lie in each other` });
}

/** Two paths of which one is the other or lies below it; undefined when there are none. */
export function conflict(paths: readonly string[]): readonly [string, string] | undefined {
  for (const [i, path] of paths.entries())
    for (const other of paths.slice(0, i))
      if (isWithin(path, other) || isWithin(other, path)) return [other, path];
  return undefined;
}

function isWithin(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}/`);
}

function hasDots(path: string): boolean {
  return path.split('/').some((segment) => segment === '.' || segment === '..');
}
