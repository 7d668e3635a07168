import { type AppError, asAppError } from '../../src/errors/app-error.ts';
import { MESSAGES_PATH, messagesFailure } from './messages-failure.ts';

/** Where clients learn from a refusal how to prove themselves (spec, MCP, inbound; RFC 9110, 11.6.1). */
const MCP_PATH = '/mcp';

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
  const headers = new Headers({ ...headersOf(known), 'x-request-id': requestId });
  const retryAfter = known.data.retryAfterSeconds;
  if (typeof retryAfter === 'number') headers.set('retry-after', String(Math.ceil(retryAfter)));
  if (known.code === 'range_not_satisfiable') headers.set('content-range', `bytes */${known.data.size}`);
  if (typeof known.data.allow === 'string') headers.set('allow', known.data.allow);
  if (known.http === 401 && path === MCP_PATH) headers.set('www-authenticate', 'Bearer');
  if (path.startsWith(MESSAGES_PATH)) {
    headers.set('request-id', requestId);
    const { status, body } = messagesFailure(known, requestId);
    return Response.json(body, { status, headers });
  }
  return Response.json(failureBody(known, requestId, path), { status: statusOf(known), headers });
}

/** What an upstream has refused keeps the upstream's status, by which stock clients choose their error. */
function statusOf(error: AppError): number {
  const { status } = error.data;
  return error.code === 'upstream_rejected' && typeof status === 'number' ? status : error.http;
}

function headersOf({ data: { headers } }: AppError): Record<string, string> {
  return typeof headers === 'object' && headers !== null ? { ...headers } : {};
}

/** Under /compat/v1 the same body also has `error`, so that stock clients understand it. */
function failureBody(error: AppError, requestId: string, path: string): object {
  const wire = error.toWire(requestId);
  return path.startsWith('/compat/') ? { ...wire, error: compatError(error) } : wire;
}

/** The error in the chat-completions dialect: an upstream's own words where there are some. */
function compatError(error: AppError): object {
  const { type, code, param } = saidBy(error);
  return {
    message: error.hint ? `${error.message} ${error.hint}` : error.message,
    type: type ?? COMPAT_TYPES[statusOf(error)] ?? 'api_error',
    param: param ?? error.violations[0]?.field ?? null,
    code: code ?? error.code,
  };
}

function saidBy({ code, data: { said } }: AppError): { type?: string; code?: string; param?: string } {
  if (code === 'model_not_found') return { param: 'model' };
  if (code === 'budget_spent') return { type: 'insufficient_quota', code: 'insufficient_quota' };
  return typeof said === 'object' && said !== null ? said : {};
}
