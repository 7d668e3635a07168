import type { Endpoint, Output } from '../api/endpoint.ts';
import { fail } from '../errors/app-error.ts';
import { baseUrl, type Credential, credentialHeaders, type PlainInput, pathOf } from './address.ts';
import type { CallArguments, CallOptions } from './input.ts';
import { readError } from './remote-error.ts';
import { openSocket } from './socket.ts';
import { readSse, type SseMessage } from './sse.ts';
import { connectionError } from './unreachable.ts';

/** Where the daemon is and who calls. Without a credential, calls carry what the platform adds. */
export interface ClientOptions extends Credential {
  /** The daemon's address, such as `http://127.0.0.1:8089`. */
  readonly url: string;
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

/** A request that is described by hand. */
export interface RawRequest {
  readonly method: string;
  /** Path and query, beginning with a slash. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: BodyInit;
  readonly signal?: AbortSignal;
}

/**
 * Calls operations by their declarations. All methods throw RemoteError for an error that the daemon
 * answered, `unreachable` when none answered, and `cancelled` when the signal ended the call.
 */
export interface Client {
  readonly url: string;
  /** One JSON answer. */
  call<E extends Endpoint>(endpoint: E, ...args: CallArguments<E>): Promise<Output<E>>;
  /** An answer that is an event stream. Leaving the loop closes it. */
  stream<E extends Endpoint>(endpoint: E, ...args: CallArguments<E>): AsyncGenerator<SseMessage>;
  /** An answer that is read by the caller, for files and other bytes. Its status is a success. */
  open<E extends Endpoint>(endpoint: E, ...args: CallArguments<E>): Promise<Response>;
  /** A WebSocket that is open. */
  socket<E extends Endpoint>(endpoint: E, ...args: CallArguments<E>): Promise<WebSocket>;
  /** Any request, with the credential. The answer is returned whatever its status. */
  request(raw: RawRequest): Promise<Response>;
}

/** A client for one daemon. Errors: invalid_argument when the URL is none. */
export function createClient(options: ClientOptions): Client {
  return new HttpClient(options);
}

class HttpClient implements Client {
  readonly url: string;
  private readonly send: (url: string, init: RequestInit) => Promise<Response>;

  constructor(private readonly options: ClientOptions) {
    this.url = baseUrl(options.url);
    this.send = options.fetch ?? ((url, init) => fetch(url, init));
  }

  async call<E extends Endpoint>(endpoint: E, ...args: CallArguments<E>): Promise<Output<E>> {
    const response = await this.exchange(endpoint, args[0], args[1]);
    if (response.status === 204) return undefined as Output<E>;
    const value = await this.reading(response.json(), args[1]?.signal);
    return value as Output<E>;
  }

  async *stream<E extends Endpoint>(endpoint: E, ...args: CallArguments<E>): AsyncGenerator<SseMessage> {
    const response = await this.exchange(endpoint, args[0], args[1], 'text/event-stream');
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
      throw fail('unreachable', { url: this.url, why: 'its answer is no event stream' });
    }
    if (!response.body) return;
    try {
      yield* readSse(response.body);
    } catch (error) {
      throw connectionError(this.url, error, args[1]?.signal);
    }
  }

  open<E extends Endpoint>(endpoint: E, ...args: CallArguments<E>): Promise<Response> {
    return this.exchange(endpoint, args[0], args[1], '*/*');
  }

  socket<E extends Endpoint>(endpoint: E, ...args: CallArguments<E>): Promise<WebSocket> {
    const path = pathOf(endpoint, (args[0] ?? {}) as PlainInput);
    return openSocket({
      url: `${this.url.replace(/^http/, 'ws')}${path}`,
      headers: credentialHeaders(this.url, path, this.options),
      signal: args[1]?.signal,
      explain: () => this.request({ method: 'GET', path, signal: args[1]?.signal }),
    });
  }

  async request(raw: RawRequest): Promise<Response> {
    try {
      return await this.send(`${this.url}${raw.path}`, {
        method: raw.method,
        headers: { ...credentialHeaders(this.url, raw.path, this.options), ...raw.headers },
        body: raw.body,
        signal: raw.signal,
        redirect: 'manual',
      });
    } catch (error) {
      throw connectionError(this.url, error, raw.signal);
    }
  }

  private async exchange(
    endpoint: Endpoint,
    input: PlainInput = {},
    options: CallOptions = {},
    accept = 'application/json',
  ): Promise<Response> {
    const json = endpoint.body && !endpoint.rawBody ? JSON.stringify(input.body ?? {}) : undefined;
    const response = await this.request({
      method: endpoint.method,
      path: pathOf(endpoint, input),
      headers: callHeaders(accept, json !== undefined, options),
      body: json ?? options.rawBody,
      signal: options.signal,
    });
    if (!response.ok) throw await readError(response);
    return response;
  }

  private async reading(body: Promise<unknown>, signal: AbortSignal | undefined): Promise<unknown> {
    try {
      return await body;
    } catch (error) {
      if (error instanceof SyntaxError) {
        throw fail('unreachable', { url: this.url, why: 'its answer is not JSON' });
      }
      throw connectionError(this.url, error, signal);
    }
  }
}

function callHeaders(accept: string, json: boolean, options: CallOptions): Record<string, string> {
  const headers: Record<string, string> = { accept };
  if (json) headers['content-type'] = 'application/json';
  if (options.idempotencyKey) headers['idempotency-key'] = options.idempotencyKey;
  if (options.lastEventId) headers['last-event-id'] = options.lastEventId;
  return headers;
}
