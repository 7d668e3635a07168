import { AppError, asAppError } from '../../../../../src/errors/app-error.ts';
import { STATUS } from './wire.ts';

/** A request that is refused with a status. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** The status of an error, with words that may leave the machine. */
export function statusOf(error: unknown): { readonly status: number; readonly message: string } {
  if (error instanceof Refused) return { status: error.status, message: error.message };
  const { http, message } = asAppError(error);
  if (!(error instanceof AppError)) return { status: STATUS.failure, message };
  if (http === 404) return { status: STATUS.noSuchFile, message };
  return { status: http === 403 ? STATUS.permissionDenied : STATUS.failure, message };
}
