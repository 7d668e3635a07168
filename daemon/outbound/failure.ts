import { type AppError, fail } from '../../src/errors/app-error.ts';
import { codeOf } from './connector.ts';
import type { Target } from './target.ts';

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed',
  EPROTO: 'the TLS handshake failed',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate comes from no known authority',
  CERT_HAS_EXPIRED: 'its certificate has expired',
};

/** The error of a name without an address. */
export function resolutionError(error: unknown, target: Target): AppError {
  const why = codeOf(error) || 'no answer';
  return fail('upstream_failed', { message: `${target.host} could not be resolved (${why}).` });
}

/** The error of a connection that failed or stayed silent. Errors: upstream_failed, upstream_timeout, cancelled. */
export function connectionError(error: unknown, target: Target, signal: AbortSignal | undefined): AppError {
  if (signal?.aborted) return aborted(signal, target);
  if (error instanceof Error && error.name === 'TimeoutError') return late(target);
  const why = REASONS[codeOf(error)] ?? (codeOf(error) || 'the connection failed');
  return fail('upstream_failed', { message: `${target.authority} could not be reached: ${why}.` });
}

/** The error of a call whose signal fired: its deadline passed, or the caller left. */
export function aborted(signal: AbortSignal, target: Target): AppError {
  const timedOut = signal.reason instanceof Error && signal.reason.name === 'TimeoutError';
  return timedOut ? late(target) : fail('cancelled');
}

function late(target: Target): AppError {
  return fail('upstream_timeout', { message: `${target.authority} did not answer in time.` });
}
