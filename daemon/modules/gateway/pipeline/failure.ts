import { type AppError, fail } from '../../../../src/errors/app-error.ts';
import { SECOND_MS } from '../../../../src/kit/time.ts';
import { UpstreamError } from '../upstream/error.ts';
import type { Attempt } from './record.ts';

const DEFAULT_RETRY_SECONDS = 1;

/**
 * What the caller hears of a failure: an upstream's as upstream_failed, upstream_timeout, upstream_down, rate_limited or
 * upstream_rejected, each with the attempts that were made; anything else as it is.
 */
export function failureOf(cause: unknown, attempts: readonly Attempt[]): unknown {
  if (cause instanceof RangeError)
    return fail('malformed_body', { message: 'The request is nested too deeply.' });
  return cause instanceof UpstreamError ? describe(cause, attempts.map(shown)) : cause;
}

function describe(
  { kind, message: said, details }: UpstreamError,
  attempts: readonly ShownAttempt[],
): AppError {
  const message =
    attempts.length > 1
      ? `${said} Tried: ${attempts.map(({ model, failure }) => `${model} (${failure ?? 'ok'})`).join(', ')}.`
      : said;
  switch (kind) {
    case 'rate_limit': {
      const seconds = Math.ceil((details.retryAfterMs ?? 0) / SECOND_MS) || DEFAULT_RETRY_SECONDS;
      return fail('rate_limited', { message, retryAfterSeconds: seconds, attempts });
    }
    case 'timeout':
      return fail('upstream_timeout', { message, attempts });
    case 'network':
      return fail('upstream_down', { message, attempts });
    case 'request':
      return fail('upstream_rejected', {
        message: said,
        status: details.status ?? 400,
        said: { code: details.code, type: details.type, param: details.param },
        attempts,
      });
    default:
      return fail('upstream_failed', { message, attempts });
  }
}

/** An attempt as callers see it. */
export interface ShownAttempt {
  readonly model: string;
  readonly failure?: string;
  readonly status?: number;
  readonly ms: number;
}

function shown({ model, failure, status, ms }: Attempt): ShownAttempt {
  return { model, failure, status, ms: Math.round(ms) };
}
