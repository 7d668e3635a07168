import { fail } from '../../../../src/errors/app-error.ts';
import type { Outbound, Trust } from '../../../outbound/outbound.ts';
import { bounded } from './bounded.ts';

/** What proves to a server who calls. */
export interface Credentials {
  /** Headers to send. Errors: failed_precondition when a person has to agree first, and those of the authorization server. */
  headers(): Promise<Readonly<Record<string, string>>>;
  /** Parameters for the query. */
  readonly query?: Readonly<Record<string, string>>;
  /** The server has refused them: gets others; false when there are none. */
  renew?(): Promise<boolean>;
}

/** How a server is called. */
export interface FetchOptions {
  readonly outbound: Pick<Outbound, 'fetch'>;
  readonly trust: Trust;
  /** The address of the server: nothing is sent to another origin. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly credentials: Credentials;
  /** Longest silence of an answer, in milliseconds. */
  readonly idleTimeoutMs: number;
  /** Whether the server's own stream of events is opened. Without it only answers are read. */
  readonly listens: boolean;
}

const UNAUTHORIZED = 401;

/** The guarded way out in the shape of `fetch`, with the credentials of a server. */
export function guardedFetch(options: FetchOptions) {
  const { origin } = new URL(options.url);
  return async (input: string | URL, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(input);
    if (url.origin !== origin)
      throw fail('outbound_refused', {
        url: url.origin,
        why: `the server is at ${origin}`,
        field: 'url',
      });
    const headers = new Headers(init.headers);
    const isStandalone = (init.method ?? 'GET') === 'GET' && !headers.has('last-event-id');
    if (isStandalone && !options.listens) return new Response(null, { status: 405 });
    for (const [name, value] of Object.entries(options.credentials.query ?? {}))
      url.searchParams.set(name, value);
    const send = async () => call(options, url, init, headers);
    const response = await send();
    if (response.status !== UNAUTHORIZED || !(await options.credentials.renew?.())) return bounded(response);
    await response.body?.cancel();
    return bounded(await send());
  };
}

async function call(
  { outbound, trust, headers: own, credentials, idleTimeoutMs }: FetchOptions,
  url: URL,
  { method, body, signal }: RequestInit,
  headers: Headers,
): Promise<Response> {
  const all = new Headers(own);
  for (const [name, value] of headers) all.set(name, value);
  for (const [name, value] of Object.entries(await credentials.headers())) all.set(name, value);
  return outbound.fetch({
    url: url.href,
    method,
    headers: Object.fromEntries(all),
    body: typeof body === 'string' ? body : undefined,
    signal: signal ?? undefined,
    trust,
    field: 'url',
    idleTimeoutMs,
  });
}
