import type { AppError } from '../../src/errors/app-error.ts';

/** Where the Messages dialect is spoken. */
export const MESSAGES_PATH = '/compat/anthropic/';

/** What each status is called in the Messages dialect. Source: platform.claude.com, Errors. */
const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  405: 'invalid_request_error',
  409: 'conflict_error',
  413: 'request_too_large',
  415: 'invalid_request_error',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};
const OVERLOADED = 529;

/** An error as stock clients of the Messages dialect read it. */
export interface MessagesFailure {
  readonly status: number;
  readonly body: {
    readonly type: 'error';
    readonly error: {
      readonly type: string;
      readonly message: string;
      readonly details: { readonly error_code: string };
    };
    readonly request_id: string;
  };
}

/** An error in the Messages dialect, with the status that goes with it. */
export function messagesFailure(error: AppError, requestId: string): MessagesFailure {
  const status = statusOf(error);
  const message = error.hint ? `${error.message} ${error.hint}` : error.message;
  const type = error.code === 'budget_spent' ? 'billing_error' : (TYPES[status] ?? 'api_error');
  return {
    status,
    body: {
      type: 'error',
      error: { type, message, details: { error_code: error.code } },
      request_id: requestId,
    },
  };
}

/** What an upstream has refused keeps the upstream's status, and an overloaded one is called so: clients choose their error by it. */
function statusOf({ code, http, data: { status, attempts } }: AppError): number {
  if (code === 'upstream_rejected' && typeof status === 'number') return status;
  const last: unknown = Array.isArray(attempts) ? attempts.at(-1) : undefined;
  const isOverloaded =
    code === 'upstream_failed' && (last as { status?: unknown } | undefined)?.status === OVERLOADED;
  return isOverloaded ? OVERLOADED : http;
}
