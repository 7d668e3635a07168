import type { Endpoint, Group, Input, Output, Role } from '../../src/api/endpoint.ts';

/** Who calls: proven by the gate. */
export interface Caller {
  /** The tenant (organization) whose things the call may see: empty for public operations. */
  readonly tenant: string;
  readonly role: Role;
  /** `usr_...` when a person, `key_...` when a key, for the audit log. */
  readonly actor: string;
  readonly userId?: string;
  /** What proved it. */
  readonly via: 'public' | 'same-origin' | 'cookie' | 'api-key';
  /** The peer is shown to be a process of this user on this machine. Only set where signing in asks for it. */
  readonly local?: true;
}

/** One request to one operation: checked input, proven caller. */
export interface Call<E extends Endpoint = Endpoint> extends Input<E> {
  readonly caller: Caller;
  readonly request: Request;
  readonly requestId: string;
  /** Address of the peer on the socket; empty when unknown. */
  readonly peer: string;
  /** Aborted when the caller leaves. */
  readonly signal: AbortSignal;
  /** Headers of the answer; a handler may add to them (Set-Cookie and the like). */
  readonly headers: Headers;
  /** Value of Idempotency-Key, when the caller sent one. */
  readonly idempotencyKey?: string;
}

/** A WebSocket session: the handler of a `stream: 'websocket'` operation answers one. */
export interface SocketSession {
  /** The socket is open; `send` and `close` may be used from now on. */
  open(socket: SocketWriter): void;
  message(data: string | Uint8Array): void;
  /** The peer is gone or `close` was called. Called once. */
  closed(code: number, reason: string): void;
}

/** The way to the peer of a WebSocket. */
export interface SocketWriter {
  /** Sends a frame; false means: wait for `drained` before sending more. */
  send(data: string | Uint8Array): boolean;
  /** Resolves when what was sent has left. */
  drained(): Promise<void>;
  /** Stops reading from the peer, which then has to wait; frames already read still come. */
  pause(): void;
  resume(): void;
  close(code?: number, reason?: string): void;
}

type Answer<E extends Endpoint> = E['stream'] extends 'sse' | 'bytes'
  ? Response
  : E['stream'] extends 'websocket'
    ? SocketSession
    : Output<E> | Response;

/** Answers one operation: translates and calls the service, no more. */
export type Handler<E extends Endpoint> = (call: Call<E>) => Answer<E> | Promise<Answer<E>>;

/** Handlers for every operation of a group but those that are declared unbuilt. */
export type Handlers<G extends Group> = {
  readonly [K in keyof G as G[K] extends { readonly unbuilt: true } ? never : K]: Handler<G[K]>;
};

/** An operation with its handler, ready to be mounted. */
export interface Route {
  readonly endpoint: Endpoint;
  readonly handle: (call: Call) => unknown;
}

/** Ties a group of declarations to its handlers. A missing or a surplus handler does not compile. */
export function implement<G extends Group>(group: G, handlers: Handlers<G>): Route[] {
  const table = handlers as Readonly<Record<string, Route['handle']>>;
  return Object.entries(group).flatMap(([id, endpoint]) => {
    const handle = table[id];
    return handle ? [{ endpoint, handle }] : [];
  });
}
