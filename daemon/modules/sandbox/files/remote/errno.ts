import { type AppError, fail, invalid } from '../../../../../src/errors/app-error.ts';

/** Errors of Linux by number (errno(3)). */
export const E = {
  PERM: 1,
  NOENT: 2,
  INTR: 4,
  IO: 5,
  ACCES: 13,
  BUSY: 16,
  EXIST: 17,
  XDEV: 18,
  NOTDIR: 20,
  ISDIR: 21,
  INVAL: 22,
  MFILE: 24,
  TXTBSY: 26,
  FBIG: 27,
  NOSPC: 28,
  ROFS: 30,
  NAMETOOLONG: 36,
  NOTEMPTY: 39,
  LOOP: 40,
  DQUOT: 122,
} as const;

const WORDS: Readonly<Record<number, string>> = {
  [E.IO]: 'reading or writing it failed (EIO)',
  [E.BUSY]: 'it is in use (EBUSY)',
  [E.INVAL]: 'the kernel does not allow that with it (EINVAL)',
  [E.MFILE]: 'too many files are open (EMFILE)',
  [E.TXTBSY]: 'it is a program that runs (ETXTBSY)',
  [E.FBIG]: 'it would be too large (EFBIG)',
  [E.LOOP]: 'it is behind too many links, or a link where none may be (ELOOP)',
};

/** The error of a system call on a path, in the words of the API. @param errno as a positive number */
export function fileError(errno: number, path: string): AppError {
  switch (errno) {
    case E.NOENT:
      return fail('file_not_found', { path });
    case E.PERM:
    case E.ACCES:
      return fail('file_denied', { path, why: 'its user may not do that' });
    case E.ROFS:
      return fail('file_denied', { path, why: 'it is read-only' });
    case E.EXIST:
      return fail('file_exists', { path });
    case E.NOTDIR:
      return fail('not_a_directory', { path });
    case E.ISDIR:
      return fail('is_a_directory', { path });
    case E.NOTEMPTY:
      return fail('directory_not_empty', { path });
    case E.XDEV:
      return fail('cross_device', { path });
    case E.NOSPC:
    case E.DQUOT:
      return fail('disk_full', { message: `There is no space left for ${JSON.stringify(path)}.` });
    case E.NAMETOOLONG:
      return invalid({ field: 'path', description: 'is longer than the file system of the sandbox takes' });
    default:
      return fail('file_failed', { path, why: WORDS[errno] ?? `errno ${errno}` });
  }
}
