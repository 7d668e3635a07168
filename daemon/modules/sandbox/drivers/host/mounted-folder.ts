import { closeSync, constants, fchownSync, fstatSync, mkdirSync, openSync } from 'node:fs';
import { invalid } from '../../../../../src/errors/app-error.ts';
import type { BoxMount } from '../driver.ts';
import { badSubpath } from '../mount-target.ts';
import { errnoOf } from './files.ts';

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;
/** Opens a place in the tree, and asks whoever serves it nothing (open(2)). */
const O_PATH = 0o10000000;

/**
 * Opens the folder of a mount. What is missing of its subpath is made and given to the user of boxes, as is the
 * source while it belongs to the daemon's own user. Boxes may change the folders meanwhile: each step goes from
 * an open folder to the next, and follows no link. The caller closes the descriptor.
 * Errors: invalid_argument (the subpath), those of node:fs.
 */
export function openMounted({ source, subpath, served }: BoxMount, owner: number): number {
  if (served) return openSync(source, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  const bad = subpath === undefined ? undefined : badSubpath(subpath);
  if (bad) throw invalid({ field: 'subpath', description: bad });
  let fd = openSync(source, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    if (fstatSync(fd).uid === process.getuid?.()) give(fd, owner);
    for (const segment of subpath?.split('/') ?? []) {
      const next = enter(fd, segment, owner);
      closeSync(fd);
      fd = next;
    }
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function enter(fd: number, segment: string, owner: number): number {
  const path = `/proc/self/fd/${fd}/${segment}`;
  const open = () => openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    return open();
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw refused(error, segment);
  }
  try {
    mkdirSync(path, { mode: 0o755 });
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
  try {
    const next = open();
    give(next, owner);
    return next;
  } catch (error) {
    throw refused(error, segment);
  }
}

/** Only the superuser gives folders away; another user's daemon keeps them as its own. */
function give(fd: number, owner: number): void {
  if (process.getuid?.() === 0) fchownSync(fd, owner, owner);
}

function refused(error: unknown, segment: string): unknown {
  const errno = errnoOf(error) ?? '';
  if (!['ELOOP', 'ENOTDIR', 'EMLINK'].includes(errno)) return error;
  const description = `goes through ${JSON.stringify(segment)}, which is a link or no folder`;
  return invalid({ field: 'subpath', description });
}
