import { AppError, fail } from '../../../../../../src/errors/app-error.ts';
import { errnoOf } from '../../host/files.ts';

/** An error of the host in the words of the contract: a full disk, else a host that cannot do it now. */
export function asHostFailure(error: unknown, what: string): AppError {
  if (error instanceof AppError) return error;
  const text = error instanceof Error ? error.message : String(error);
  if (errnoOf(error) === 'ENOSPC' || /no space left/i.test(text))
    return fail('disk_full', { message: `The disk of the sandboxes is full: ${what} failed.` });
  return fail('unavailable', { message: `${what} failed: ${text}` });
}
