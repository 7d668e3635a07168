import type { Server } from 'bun';
import type { Endpoint } from '../../src/api/endpoint.ts';
import { fail } from '../../src/errors/app-error.ts';
import { declaredLength, readJson } from './body.ts';
import { type Arrival, type CheckedInput, OperationCall, SocketPeer } from './call.ts';
import type { Gate } from './gate.ts';
import type { Idempotency } from './idempotency.ts';
import { type RouterPath, readParams } from './path.ts';
import { readQuery } from './query.ts';
import type { Call, Route, SocketSession } from './route.ts';
import { upgrade } from './sockets.ts';
import { ownTenant } from './tenant.ts';
import { type Validator, validator } from './validate.ts';

/** What answering takes, besides the operation. */
export interface OperationTools {
  readonly gate: Gate;
  readonly idempotency: Idempotency;
}

/** Answers requests to one operation: gate, input, handler, answer. Throws AppErrors. */
export type Operation = (arrival: Arrival) => Promise<Response | undefined>;

/** Makes the operation of a declaration; without a route it answers 501 to those who may enter. */
export function operation(
  endpoint: Endpoint,
  path: RouterPath,
  route: Route | undefined,
  tools: OperationTools,
): Operation {
  const read = inputReader(endpoint, path);
  return async (arrival) => {
    const { request, server } = arrival;
    const peer = new SocketPeer(arrival);
    // Signing in counts attempts by address, which is gone once a caller has left, so it is not put off.
    if (endpoint.access === 'public') void peer.address;
    const caller = await tools.gate.admit(request, endpoint, peer);
    arrival.caller = caller;
    if (!route) throw fail('not_built', { operation: endpoint.id });
    const call = new OperationCall(arrival, await read(arrival), caller, peer);
    server?.timeout(request, 0);
    ownTenant(caller, field(call.query, 'tenantId'), field(call.body, 'tenantId'));
    return answer(endpoint, call, await handle(endpoint, route, call, tools.idempotency), server);
  };
}

function handle(endpoint: Endpoint, route: Route, call: Call, idempotency: Idempotency): unknown {
  const key = call.idempotencyKey;
  // What a model answers under /compat is passed on as it comes, and what is said by MCP is JSON-RPC: neither is kept here.
  const isPassedOn = endpoint.path.startsWith('/compat/') || endpoint.path === '/mcp';
  const answersJson = !endpoint.stream && !endpoint.chunk && !isPassedOn;
  const once = key !== undefined && endpoint.method === 'POST' && answersJson && endpoint.access !== 'public';
  if (!once) return route.handle(call);
  const input = [call.params, call.query, call.body];
  return idempotency.once(call.caller, key, endpoint.id, input, async () => {
    const value = await route.handle(call);
    if (value instanceof Response) throw fail('internal');
    return value;
  });
}

function answer(
  endpoint: Endpoint,
  call: OperationCall,
  value: unknown,
  server: Server<unknown> | null,
): Response | undefined {
  if (endpoint.stream === 'websocket') {
    upgrade(server, call.request, value as SocketSession, call.headers);
    return undefined;
  }
  const headers = call.shownHeaders ?? call.ownHeaders;
  if (endpoint.status === 204) return new Response(null, { status: 204, headers });
  if (!(value instanceof Response)) return Response.json(value ?? {}, { headers });
  value.headers.set('x-request-id', call.requestId);
  if (call.shownHeaders) addTo(value.headers, call.shownHeaders);
  return value;
}

/** A handler may have given its response the same headers already; only cookies stand more than once. */
function addTo(headers: Headers, more: Headers): void {
  for (const [name, text] of more) {
    if (name === 'set-cookie') headers.append(name, text);
    else headers.set(name, text);
  }
}

function inputReader(endpoint: Endpoint, path: RouterPath): (arrival: Arrival) => Promise<CheckedInput> {
  const dialect = endpoint.path.startsWith('/compat/') ? 'compat' : 'native';
  const checkParams = endpoint.params && validator(endpoint.params, 'query');
  const checkQuery = endpoint.query && validator(endpoint.query, 'query');
  const checkBody = endpoint.body && !endpoint.rawBody ? validator(endpoint.body, dialect) : undefined;
  return async ({ request, params }) => {
    const named = readParams(path, params);
    if (!named)
      throw fail('route_not_found', { method: request.method, path: new URL(request.url).pathname });
    if (endpoint.rawBody) checkDeclaredLength(request, endpoint);
    return {
      params: checked(checkParams, named),
      query: checked(checkQuery, checkQuery && readQuery(request.url)),
      body: checkBody ? checked(checkBody, await readJson(request, endpoint)) : undefined,
    } as CheckedInput;
  };
}

function checked(check: Validator | undefined, value: unknown): unknown {
  return check ? check.check(value) : {};
}

function checkDeclaredLength(request: Request, endpoint: Endpoint): void {
  const limit = endpoint.bodyLimit;
  if (limit !== undefined && declaredLength(request) > limit) throw fail('body_too_large', { limit });
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
