import type { Endpoint } from '../api/endpoint.ts';
import type { Static, TSchema } from '../api/schema.ts';

type Nothing = Record<never, never>;

/** A part that the operation declares; it may be left out when nothing in it is required. */
type Part<Name extends string, S> = S extends TSchema
  ? Nothing extends Static<S>
    ? { readonly [N in Name]?: Static<S> }
    : { readonly [N in Name]: Static<S> }
  : { readonly [N in Name]?: undefined };

/** What a caller gives to an operation. */
export type CallInput<E extends Endpoint> = Part<'params', E['params']> &
  Part<'query', E['query']> &
  Part<'body', E['body']>;

/** How a call is made. */
export interface CallOptions {
  /** Ends the call: it throws `cancelled`, or `unreachable` when a timeout ended it. */
  readonly signal?: AbortSignal;
  /** Sent as Idempotency-Key: repeating the call does the work once. */
  readonly idempotencyKey?: string;
  /** Sent as Last-Event-ID: a stream goes on after this message. */
  readonly lastEventId?: string;
  /** Sent in place of the JSON body, for operations whose body is not JSON. */
  readonly rawBody?: BodyInit;
}

/** The arguments after the operation; the input may be left out when nothing in it is required. */
export type CallArguments<E extends Endpoint> =
  Nothing extends CallInput<E>
    ? [input?: CallInput<E>, options?: CallOptions]
    : [input: CallInput<E>, options?: CallOptions];
