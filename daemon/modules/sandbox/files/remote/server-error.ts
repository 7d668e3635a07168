import { type AppError, fail } from '../../../../../src/errors/app-error.ts';

/** The process that carries out the calls in a box is not what it was, or is gone. */
export function brokenServer(why: string): AppError {
  return fail('unavailable', { message: `The files of the sandbox cannot be reached: ${why}. Try again.` });
}
