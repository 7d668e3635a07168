import { AppError, fail } from '../errors/app-error.ts';

/** What the platforms call the ways in which a connection fails, in words for a person. */
const REASONS: Readonly<Record<string, string>> = {
  ConnectionRefused: 'the connection was refused',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was cut',
  ConnectionClosed: 'the connection was cut',
  ENOTFOUND: 'the host name is unknown',
  EHOSTUNREACH: 'there is no route to the host',
  ETIMEDOUT: 'the connection timed out',
};

/** The error of a call that got no answer: `cancelled` when the caller ended it, else `unreachable`. */
export function connectionError(url: string, error: unknown, signal?: AbortSignal): AppError {
  if (error instanceof AppError) return error;
  if (signal?.aborted && !isTimeout(signal.reason)) return fail('cancelled');
  return fail('unreachable', { url, why: isTimeout(error) ? 'it did not answer in time' : reasonOf(error) });
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'the connection failed';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return REASONS[code] ?? (error.message.replace(/\.$/, '') || 'the connection failed');
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}
