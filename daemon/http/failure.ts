import { type AppError, asAppError } from '../../src/errors/app-error.ts';

const COMPAT_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'invalid_request_error',
  413: 'invalid_request_error',
  429: 'rate_limit_error',
};

/** Any error as a response in the error shape (spec, Errors). Unknown errors show nothing of themselves. */
export function failureResponse(error: unknown, requestId: string, path: string): Response {
  const known = asAppError(error);
  const headers = new Headers({ 'x-request-id': requestId });
  const retryAfter = known.data.retryAfterSeconds;
  if (typeof retryAfter === 'number') headers.set('retry-after', String(Math.ceil(retryAfter)));
  if (known.code === 'range_not_satisfiable') headers.set('content-range', `bytes */${known.data.size}`);
  if (typeof known.data.allow === 'string') headers.set('allow', known.data.allow);
  return Response.json(failureBody(known, requestId, path), {
    status: known.http === 499 ? 499 : known.http,
    headers,
  });
}

/** Under /compat/v1 the same body also has `error`, so that stock clients understand it. */
function failureBody(error: AppError, requestId: string, path: string): object {
  const wire = error.toWire(requestId);
  if (!path.startsWith('/compat/')) return wire;
  const type = COMPAT_TYPES[error.http] ?? 'api_error';
  const param = error.violations[0]?.field ?? null;
  const message = error.hint ? `${error.message} ${error.hint}` : error.message;
  return { ...wire, error: { message, type, param, code: error.code } };
}
