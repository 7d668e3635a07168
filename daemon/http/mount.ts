import type { Server } from 'bun';
import { Elysia } from 'elysia';
import type { Endpoint, RoutePath } from '../../src/api/endpoint.ts';
import { asAppError, fail } from '../../src/errors/app-error.ts';
import { newId } from '../../src/kit/id.ts';
import type { Log } from '../log/log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { LARGEST_BODY } from './body.ts';
import type { Arrival } from './call.ts';
import type { Cors } from './cors.ts';
import { failureResponse } from './failure.ts';
import { type HostedSite, siteOf, visitOf } from './hosted.ts';
import { type Operation, type OperationTools, operation } from './operation.ts';
import { toRouterPath } from './path.ts';
import type { Route } from './route.ts';

/** What the edge needs of the instance. */
export interface MountOptions extends OperationTools {
  readonly operations: readonly Endpoint[];
  readonly routes: readonly Route[];
  readonly log: Log;
  readonly metrics: Metrics;
  /** Answers what is no operation (pages); undefined leads to 404. */
  readonly page?: (request: Request) => Response | undefined | Promise<Response | undefined>;
  /** Tells browsers which pages of other origins may read answers. */
  readonly cors?: Cors;
  /** What has hosts of its own behind this port. Their requests are handed over before anything else looks at them. */
  readonly sites?: readonly HostedSite[];
}

/** A listener that was started. */
export interface Listening {
  readonly port: number;
  /** Takes no more requests, lets open ones finish, ends them at the deadline. */
  stop(deadlineMs: number): Promise<void>;
}

/** Seconds a connection may be silent before its request is complete. */
const IDLE_SECONDS = 30;

/**
 * Mounts every operation. The only file that knows Elysia, which reads the text of these functions to see what of
 * a request they use and makes just that: only parameters that are taken apart at once survive minification.
 */
export function mount(options: MountOptions): Elysia {
  const app = new Elysia({ normalize: false, precompile: false });
  app.onError(({ error, request }) => failureResponse(error, requestIdOf(request), pathnameOf(request)));
  const routes = new Map(options.routes.map((route) => [route.endpoint, route]));
  for (const endpoint of options.operations) {
    for (const place of [endpoint, ...(endpoint.aliases ?? [])])
      add(app, endpoint, place, routes.get(endpoint), options);
  }
  app.all('/*', ({ request, server }) => hosted({ request, server }, options) ?? outside(request, options), {
    parse: 'none',
  });
  return app;
}

/** Listens. Errors: failed_precondition when the port is taken or may not be used. */
export async function listen(app: Elysia, hostname: string, port: number): Promise<Listening> {
  const server = await new Promise<Server<unknown>>((resolve, reject) => {
    try {
      app.listen(
        { hostname, port, reusePort: false, idleTimeout: IDLE_SECONDS, maxRequestBodySize: LARGEST_BODY },
        resolve,
      );
    } catch (error) {
      reject(listenError(error, hostname, port));
    }
  });
  return { port: server.port ?? port, stop: (deadlineMs) => stop(server, deadlineMs) };
}

function add(
  app: Elysia,
  endpoint: Endpoint,
  place: RoutePath,
  route: Route | undefined,
  options: MountOptions,
): void {
  const path = toRouterPath(place.path);
  const run = operation({ ...endpoint, ...place }, path, route, options);
  const handler = ({ request, params, server }: Omit<Arrival, 'requestId'>) =>
    hosted({ request, server }, options) ??
    watched(endpoint, run, { request, params, server, requestId: requestIdOf(request) }, options);
  app.route(place.method, path.pattern, handler, { config: {}, parse: 'none' });
}

async function watched(
  endpoint: Endpoint,
  run: Operation,
  arrival: Arrival,
  { log, metrics, cors }: MountOptions,
) {
  const start = performance.now();
  let response: Response | undefined;
  try {
    response = await run(arrival);
  } catch (error) {
    if (asAppError(error) !== error)
      log.error('a request failed', { requestId: arrival.requestId, operation: endpoint.id, error });
    response = failureResponse(error, arrival.requestId, pathnameOf(arrival.request));
  }
  if (cors?.isOn && response) cors.mark(arrival.request, response, arrival.caller);
  const durationMs = performance.now() - start;
  metrics.request(endpoint.id, response?.status ?? 101, durationMs);
  log.debug('request', {
    requestId: arrival.requestId,
    operation: endpoint.id,
    status: response?.status ?? 101,
    durationMs: Math.round(durationMs),
  });
  return response;
}

/** The answer of a hosted site; undefined at once when the request is for none. */
function hosted(
  arrival: Pick<Arrival, 'request' | 'server'>,
  { sites = [], log }: MountOptions,
): Promise<Response | undefined> | undefined {
  const { request } = arrival;
  const site = siteOf(request, sites);
  if (!site) return undefined;
  const requestId = requestIdOf(request);
  return site.visit(visitOf({ ...arrival, requestId })).catch((error: unknown) => {
    if (asAppError(error) !== error) log.error('a visit failed', { requestId, error });
    return failureResponse(error, requestId, '');
  });
}

async function outside(request: Request, options: MountOptions): Promise<Response> {
  const pathname = pathnameOf(request);
  const requestId = requestIdOf(request);
  try {
    options.gate.checkHost(request);
    const preflight = options.cors?.isOn ? options.cors.preflight(request) : undefined;
    if (preflight) return preflight;
    const page = await options.page?.(request);
    if (page) return page;
    throw missing(request.method, pathname, options.operations);
  } catch (error) {
    return failureResponse(error, requestId, pathname);
  }
}

function missing(method: string, path: string, operations: readonly Endpoint[]): Error {
  const allow = operations
    .filter((endpoint) => pathMatches(endpoint.path, path))
    .map((endpoint) => endpoint.method);
  if (allow.length === 0) return fail('route_not_found', { method, path });
  return fail('method_not_allowed', { method, path, allow: [...new Set(allow)].join(', ') });
}

function pathMatches(declared: string, path: string): boolean {
  const [wanted, given] = [declared.split('/'), path.split('/')];
  return (
    wanted.length === given.length && wanted.every((part, i) => part.startsWith('{') || part === given[i])
  );
}

/** The path of a request. The URL of one whose Host header is no host has nothing but the path. */
function pathnameOf({ url }: Request): string {
  return URL.parse(url)?.pathname ?? url;
}

function requestIdOf(request: Request): string {
  const given = request.headers.get('x-request-id');
  return given && /^[\w.:-]{1,64}$/.test(given) ? given : newId('req');
}

function listenError(error: unknown, hostname: string, port: number): Error {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const where = `${hostname}:${port}`;
  if (code === 'EADDRINUSE') {
    return fail('failed_precondition', {
      message: `${where} is in use by another program. Choose another port: --port N`,
    });
  }
  return fail('failed_precondition', {
    message: `Cannot listen on ${where}: ${error instanceof Error ? error.message : 'refused'}`,
  });
}

async function stop(server: Server<unknown>, deadlineMs: number): Promise<void> {
  let timer: Timer | undefined;
  const deadline = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, deadlineMs);
  });
  await Promise.race([server.stop(false), deadline]);
  clearTimeout(timer);
  await server.stop(true);
}
