import type { TSchema } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import '../../../daemon/http/validate.ts';
import type { Endpoint } from '../../../src/api/endpoint.ts';
import { operations } from '../../../src/api/index.ts';
import { RpcStatus } from '../../../src/api/status.ts';
import type { WireRequest, WireResponse } from '../wire.ts';

/** Statuses of 500 and more that are no failure of the instance, with their reasons. */
const EXPECTED: Readonly<Record<number, readonly string[]>> = {
  501: ['not_built', 'not_configured'],
  503: ['runtime_missing', 'unavailable'],
};

/** What only the inside knows. */
const INSIDES = /SQLITE|\.ts:\d|node_modules|\bat \w+ \(|TypeError|RangeError|SyntaxError:/;

/** What is wrong with an answer; undefined when nothing is. */
export function problemOf(request: WireRequest, response: WireResponse): string | undefined {
  const { status, headers } = response;
  const endpoint = endpointOf(request);
  if (endpoint?.path === '/mcp' && (status === 202 || response.text.includes('"jsonrpc"')))
    return rpcProblem(endpoint, response);
  if (status < 300) return endpoint ? successProblem(endpoint, response) : `${status} where nothing is`;
  if (status === 303) return headers.get('location') === '/' ? undefined : 'leads somewhere else';
  if (status < 400) return 'is a redirection';
  return endpoint?.path.startsWith('/compat/anthropic/')
    ? messagesProblem(response)
    : failureProblem(response);
}

/** The operation that a request means: an odd segment such as `..` may make its path that of another one. */
function endpointOf({ method, target }: WireRequest): Endpoint | undefined {
  const path = new URL(target, 'http://localhost').pathname.replace(/\/$/, '').split('/');
  const literals = (one: Endpoint) => one.path.split('/').filter((part) => !part.startsWith('{')).length;
  return operations
    .flatMap((one) => [one, ...(one.aliases ?? []).map((alias) => ({ ...one, ...alias }))])
    .filter((one) => one.method === method && matches(one.path.split('/'), path))
    .toSorted((a, b) => literals(b) - literals(a))[0];
}

function matches(declared: readonly string[], given: readonly string[]): boolean {
  return (
    declared.length === given.length && declared.every((part, i) => part.startsWith('{') || part === given[i])
  );
}

function successProblem(endpoint: Endpoint, response: WireResponse): string | undefined {
  const { status, headers, text } = response;
  if (endpoint.status === 204 || endpoint.stream === 'websocket' || endpoint.stream === 'sse')
    return undefined;
  // A list of no lines is empty.
  const isLines = headers.get('content-type')?.startsWith('application/x-ndjson');
  if (endpoint.stream === 'bytes') return text === '' && !isLines ? 'is empty' : undefined;
  if (headers.get('content-type')?.startsWith('text/event-stream'))
    return eventsProblem(endpoint.chunk ?? endpoint.response, text);
  const value = parse(text);
  if (value === undefined) return `${status} is no JSON`;
  return mismatch(endpoint.response, value);
}

function eventsProblem(schema: TSchema, text: string): string | undefined {
  const events = text.split('\n').filter((line) => line.startsWith('data: '));
  if (events.length === 0) return 'has no events';
  for (const event of events) {
    const data = event.slice('data: '.length);
    const problem = data === '[DONE]' ? undefined : mismatch(schema, parse(data));
    if (problem) return `event: ${problem}`;
  }
  return undefined;
}

function failureProblem({ status, headers, text }: WireResponse): string | undefined {
  const body = parse(text) as { code: number; message: string; details: Array<{ reason?: string }> };
  if (!headers.get('content-type')?.startsWith('application/json')) return `${status} is not JSON`;
  if (!Value.Check(RpcStatus, body)) return `${status} has not the shape of an error`;
  const { code, message, details } = body;
  if (!Number.isInteger(code) || code < 1 || code > 16) return `the code ${code} is none`;
  if (!message || !Array.isArray(details)) return 'the error says nothing';
  if (INSIDES.test(text)) return 'the error shows the inside';
  const reason = details[0]?.reason ?? '';
  if (status >= 500 && !EXPECTED[status]?.includes(reason)) return `${status} ${reason}`;
  return headers.get('x-request-id') ? undefined : 'has no request id';
}

/** What is wrong with an error in the Messages dialect: `{type: 'error', error: {type, message}, request_id}`. */
function messagesProblem({ status, headers, text }: WireResponse): string | undefined {
  const body = parse(text) as {
    type?: string;
    error?: { type?: string; message?: string; details?: { error_code?: string } };
    request_id?: string;
  };
  if (!headers.get('content-type')?.startsWith('application/json')) return `${status} is not JSON`;
  const { type, error, request_id } = body ?? {};
  if (type !== 'error' || !error?.type || !error.message) return `${status} has not the shape of an error`;
  if (INSIDES.test(text)) return 'the error shows the inside';
  const code = error.details?.error_code ?? '';
  if (status >= 500 && !EXPECTED[status]?.includes(code)) return `${status} ${code}`;
  return request_id && request_id === headers.get('request-id') ? undefined : 'has no request id';
}

/** What is wrong with an answer in JSON-RPC: a result or an error, and to a notification nothing at all. */
function rpcProblem({ response }: Endpoint, { status, headers, text }: WireResponse): string | undefined {
  if (!headers.get('x-request-id')) return 'has no request id';
  if (status === 202) return text === '' ? undefined : 'says something to a notification';
  if (status >= 500) return `${status}`;
  const value = parse(text);
  const isOne = typeof value === 'object' && value !== null && 'result' in value !== 'error' in value;
  if (!isOne) return 'is neither a result nor an error';
  if (INSIDES.test(text)) return 'the answer shows the inside';
  return mismatch(response, value);
}

function mismatch(schema: TSchema, value: unknown): string | undefined {
  const [first] = Value.Errors(schema, value);
  if (first) return `${first.path}: ${first.message}, not ${JSON.stringify(first.value)?.slice(0, 100)}`;
  const surplus = undeclared(schema, value);
  return surplus === undefined ? undefined : `${surplus} is not declared`;
}

/** The path of a field that no schema speaks of. */
function undeclared(schema: TSchema, value: unknown, path = ''): string | undefined {
  if (Array.isArray(value))
    return first(value, (part, i) => undeclared(schema.items ?? {}, part, `${path}/${i}`));
  if (typeof value !== 'object' || value === null || !schema.properties) return undefined;
  const isOpen = schema.additionalProperties !== undefined && schema.additionalProperties !== false;
  return first(Object.entries(value), ([name, part]) => {
    const inner: TSchema | undefined = schema.properties[name];
    if (inner) return undeclared(inner, part, `${path}/${name}`);
    return isOpen ? undefined : `${path}/${name}`;
  });
}

function first<T, R>(items: readonly T[], look: (item: T, i: number) => R | undefined): R | undefined {
  for (const [i, item] of items.entries()) {
    const found = look(item, i);
    if (found !== undefined) return found;
  }
  return undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
