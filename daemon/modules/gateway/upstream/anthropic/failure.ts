import type { MessagesEvent } from '../../wire/messages.ts';
import { type FailureKind, UpstreamError } from '../error.ts';

/** The status that each type of error has when it comes before the answer. Source: platform.claude.com, Errors. */
const STATUSES: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  conflict_error: 409,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

const KINDS: Readonly<Record<number, FailureKind>> = {
  401: 'key',
  403: 'key',
  429: 'rate_limit',
  500: 'server',
  504: 'timeout',
  529: 'server',
};

/** The error that an event in a stream reports: `{type: 'error', error: {type, message}}`. */
export function eventError({ error }: MessagesEvent, provider: string): UpstreamError {
  const { type = 'api_error', message = 'no reason given' } = error ?? {};
  const status = STATUSES[type] ?? 500;
  return new UpstreamError(KINDS[status] ?? 'request', `The provider ${provider} broke off: ${message}`, {
    status,
    type,
  });
}
