import type { Server } from 'bun';
import type { Peer } from './gate/local-peer.ts';
import type { Call, Caller } from './route.ts';

/** What the router knows of a request. */
export interface Arrival {
  readonly request: Request;
  readonly requestId: string;
  readonly params: Readonly<Record<string, string>>;
  readonly server: Server<unknown> | null;
  /** Who calls, once the gate has let the request in. */
  caller?: Caller;
}

/** The parts of a request after their check. */
export type CheckedInput = Pick<Call, 'params' | 'query' | 'body'>;

/** The other end of a request's connection, asked of the kernel when somebody wants to know. */
export class SocketPeer implements Peer {
  private known: ReturnType<Server<unknown>['requestIP']> | undefined;

  constructor(private readonly arrival: Arrival) {}

  get address(): string {
    return this.find()?.address ?? '';
  }

  get port(): number {
    return this.find()?.port ?? 0;
  }

  private find(): ReturnType<Server<unknown>['requestIP']> {
    this.known ??= this.arrival.server?.requestIP(this.arrival.request) ?? null;
    return this.known;
  }
}

/** One call. What few handlers ask for is made at the first asking. */
export class OperationCall implements Call {
  readonly params: never;
  readonly query: never;
  readonly body: never;
  readonly request: Request;
  readonly requestId: string;
  readonly signal: AbortSignal;
  /** The headers that a handler has seen, and may have added to; undefined when none has. */
  shownHeaders: Headers | undefined;

  constructor(
    arrival: Arrival,
    input: CheckedInput,
    readonly caller: Caller,
    private readonly socket: Peer,
  ) {
    this.request = arrival.request;
    this.requestId = arrival.requestId;
    this.signal = arrival.request.signal;
    this.params = input.params as never;
    this.query = input.query as never;
    this.body = input.body as never;
  }

  get peer(): string {
    return this.socket.address;
  }

  get headers(): Headers {
    this.shownHeaders ??= new Headers(this.ownHeaders);
    return this.shownHeaders;
  }

  get idempotencyKey(): string | undefined {
    return this.request.headers.get('idempotency-key') ?? undefined;
  }

  /** The headers of every answer. */
  get ownHeaders(): Record<string, string> {
    return { 'x-request-id': this.requestId };
  }
}
