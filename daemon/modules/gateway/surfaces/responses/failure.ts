import { type AppError, asAppError } from '../../../../../src/errors/app-error.ts';
import { failureOf } from '../../pipeline/failure.ts';
import type { ResponseObject } from './wire.ts';

const CODES: Readonly<Record<string, string>> = {
  rate_limited: 'rate_limit_exceeded',
  budget_spent: 'rate_limit_exceeded',
  resource_exhausted: 'rate_limit_exceeded',
  upstream_rejected: 'invalid_prompt',
  guardrail_blocked: 'invalid_prompt',
  invalid_argument: 'invalid_prompt',
};

/** What a response says of the failure that ended it, with a code that stock clients know. */
export function errorOf(cause: unknown): NonNullable<ResponseObject['error']> {
  const error: AppError = asAppError(failureOf(cause, []));
  return { code: CODES[error.code] ?? 'server_error', message: error.message };
}
