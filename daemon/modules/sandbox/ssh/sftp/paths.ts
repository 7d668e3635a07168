import { posix } from 'node:path';
import { Refused } from './status.ts';
import { STATUS } from './wire.ts';

/** Longer paths are none (PATH_MAX). */
const MOST_PATH = 4096;

/**
 * A path as the sandbox's kernel is to see it: absolute, and otherwise as it came. `..` stays, for it means what the
 * links before it make of it. Errors: Refused.
 */
export function absolutePath(text: string, start: string): string {
  if (text.includes('\0') || text.length > MOST_PATH) throw new Refused(STATUS.noSuchFile, 'no such path');
  return text.startsWith('/')
    ? text
    : text === '' || text === '.'
      ? start
      : posix.join(start, '/').concat(text);
}

/** Puts the home directory in place of a leading `~`. Errors: Refused for the home of somebody else. */
export function expandHome(text: string, home: string): string {
  if (!text.startsWith('~')) return text;
  if (text !== '~' && !text.startsWith('~/')) throw new Refused(STATUS.failure, 'only ~ and ~/ are known');
  return home + text.slice(1);
}
