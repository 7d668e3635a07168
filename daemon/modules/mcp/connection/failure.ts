import type { SdkError, SdkHttpError } from '@modelcontextprotocol/client';
import { AppError, fail } from '../../../../src/errors/app-error.ts';

const SHOWN = 500;

/** The AppError inside an error that a library has wrapped; undefined when there is none. */
function innermost(error: unknown, depth = 0): AppError | undefined {
  if (error instanceof AppError) return error;
  if (typeof error !== 'object' || error === null || depth > 5) return undefined;
  const { cause, data } = error as { cause?: unknown; data?: unknown };
  const carried = typeof data === 'object' && data !== null && 'cause' in data ? data.cause : undefined;
  return innermost(cause ?? carried, depth + 1);
}

/** The status with which a server has answered, when that was the failure. */
export function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  const { status, data, code } = error as Partial<SdkHttpError>;
  const found: unknown = status ?? (data as { status?: unknown } | undefined)?.status ?? code;
  return typeof found === 'number' && found >= 400 && found <= 599 ? found : undefined;
}

/**
 * What went wrong between us and a server, as an AppError: upstream_timeout, upstream_failed, or what the guard, the
 * sandbox or the authorization has said.
 */
export function serverFailure(error: unknown): AppError {
  const known = innermost(error);
  if (known) return known;
  if (!(error instanceof Error)) return fail('upstream_failed', { message: 'The server failed.' });
  if ((error as Partial<SdkError>).code === 'REQUEST_TIMEOUT' || error.name === 'TimeoutError')
    return fail('upstream_timeout', { message: 'The server did not answer in time.' });
  const status = statusOf(error);
  if (status === 401 || status === 403)
    return fail('upstream_failed', { message: `The server refuses the credentials (${status}).` });
  if (status !== undefined)
    return fail('upstream_failed', { message: `The server answered ${status}${said(error)}` });
  return fail('upstream_failed', { message: `${error.message}`.slice(0, SHOWN) });
}

function said(error: Error): string {
  const { data } = error as { data?: { text?: unknown } };
  const text = typeof data?.text === 'string' ? data.text.trim().slice(0, SHOWN) : '';
  return text === '' ? '.' : `: ${text}`;
}
