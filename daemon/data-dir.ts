import { accessSync, constants, mkdirSync } from 'node:fs';
import { fail } from '../src/errors/app-error.ts';

/** Makes the data directory, for its owner alone. Errors: failed_precondition when that is not possible. */
export function prepareDataDir(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw fail('failed_precondition', {
      message: `The data directory ${path} cannot be used (${why}). Choose another: --data-dir DIR`,
    });
  }
}
