import { AppError, fail } from '../../../../src/errors/app-error.ts';
import { MINUTE_MS } from '../../../../src/kit/time.ts';
import type { Outbound } from '../../../outbound/outbound.ts';
import type { Upstream, UpstreamInit } from './adapter.ts';
import { UpstreamError } from './error.ts';

/** How long a model may think before and between bytes. */
export const SILENCE_MS = 10 * MINUTE_MS;

/** Makes the upstream of one attempt: calls its address through the one way out, and names it in errors. */
export function openUpstream(
  outbound: Outbound,
  parts: Omit<Upstream, 'fetch'>,
  silenceMs = SILENCE_MS,
): Upstream {
  const { account, signal } = parts;
  return {
    ...parts,
    async fetch(path: string, init: UpstreamInit = {}) {
      try {
        return await outbound.fetch({
          ...init,
          method: init.method ?? (init.body === undefined ? 'GET' : 'POST'),
          url: path.startsWith('/') ? account.baseUrl + path : path,
          signal,
          idleTimeoutMs: silenceMs,
          trust: account.trust,
          field: `providers.${account.name}.base_url`,
        });
      } catch (error) {
        throw failedCall(error, account.name, signal);
      }
    },
  };
}

/** What a call, or the reading of its answer, has failed with. A caller that left is `cancelled`. */
export function failedCall(error: unknown, provider: string, signal: AbortSignal): Error {
  // The stack is too small for what the caller has nested: no failure of the upstream.
  if (error instanceof UpstreamError || error instanceof RangeError) return error;
  if (signal.aborted && !isTimeout(signal.reason)) return fail('cancelled');
  if (
    isTimeout(error) ||
    isTimeout(signal.reason) ||
    (error instanceof AppError && error.code === 'upstream_timeout')
  )
    return new UpstreamError('timeout', `The provider ${provider} fell silent.`);
  if (error instanceof AppError && error.code === 'outbound_refused')
    return new UpstreamError('address', `The provider ${provider} may not be called: ${error.message}`);
  if (error instanceof AppError)
    return new UpstreamError('network', `The provider ${provider} does not answer: ${error.message}`);
  return new UpstreamError(
    'network',
    `The provider ${provider} closed the connection before its answer was complete.`,
  );
}

/** Whether a call was ended because its time was over. */
export function isTimeout(reason: unknown): boolean {
  return reason instanceof Error && reason.name === 'TimeoutError';
}
