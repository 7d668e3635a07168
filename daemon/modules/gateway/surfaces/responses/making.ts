import { eventBytes } from '../../wire/event-stream.ts';
import type { Usage } from '../../wire/usage.ts';
import type { Cut } from './chat/writer.ts';
import type { ResponseEvent, ResponseObject } from './wire.ts';

/** A piece of an answer that streams: whole events. */
export interface Step {
  readonly bytes: Uint8Array;
  /** The finished response, when the event that ends the stream is in it. Nothing comes after it. */
  readonly end?: ResponseObject;
}

/** An answer while it is made. Read once; leaving early ends the upstream's. */
export interface Making {
  readonly headers: Headers;
  /** Errors: UpstreamError; cancelled. */
  steps(): AsyncGenerator<Step, void>;
  /** Ends it where it stands: what was said so far, and the event that says so. */
  cut(cut: Cut): Step & { readonly end: ResponseObject };
  /** What it took; undefined as long as, or when, nobody says. */
  readonly usage: Usage | undefined;
}

/** An answer that came whole. */
export interface Made {
  readonly headers: Headers;
  readonly response: ResponseObject;
  readonly usage: Usage | undefined;
}

/** What a provider has answered. */
export type Sent =
  | { readonly kind: 'whole'; readonly made: Made }
  | { readonly kind: 'stream'; readonly making: Making };

/** Events as they go over the wire, each under its name. */
export function bytesOf(events: readonly ResponseEvent[]): Uint8Array {
  const [only] = events;
  if (only && events.length === 1) return eventBytes(JSON.stringify(only), only.type);
  return Buffer.concat(events.map((event) => eventBytes(JSON.stringify(event), event.type)));
}
