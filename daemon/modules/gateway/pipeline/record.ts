import type { Usage } from '../wire/usage.ts';
import type { Surface } from './call.ts';

/** One try at one upstream. */
export interface Attempt {
  /** `<provider>/<model>` with the provider's own name of the model. */
  readonly model: string;
  /** The id of the key; never the key. */
  readonly key?: string;
  readonly ms: number;
  /** Milliseconds from the start of the request to that of the attempt; the settlement notes it. */
  readonly startMs?: number;
  /** Why it failed: the kind of UpstreamError; absent when it answered. */
  readonly failure?: string;
  readonly status?: number;
}

/** How a request ended. `stopped` is a caller that left. */
export type Ending = 'completed' | 'failed' | 'stopped' | 'refused';

/** What is known of one request when it is over: the row of the request log. Holds no content. */
export interface RequestRecord {
  readonly requestId: string;
  readonly tenant: string;
  /** `key_...` or `usr_...`. */
  readonly actor: string;
  readonly surface: Surface;
  readonly streamed: boolean;
  /** Unix time in milliseconds. */
  readonly startedAt: number;
  readonly durationMs: number;
  /** Until the first byte of the answer; absent when there was none. */
  readonly firstByteMs?: number;
  /** HTTP status of the answer. */
  readonly status: number;
  readonly ending: Ending;
  /** As the caller named it. */
  readonly requestedModel: string;
  /** `<provider>/<model>` that answered, or was being asked when the caller left; absent when none did. */
  readonly model?: string;
  /** How the name was resolved. */
  readonly resolvedBy?: 'route' | 'explicit' | 'catalog';
  readonly attempts: readonly Attempt[];
  readonly usage?: Usage;
  /** In millionths of a US dollar; absent when the model has no known price. */
  readonly costMicros?: number;
  readonly cache?: 'hit' | 'semantic' | 'miss' | 'bypass';
  /** Guardrails that were violated, by name. */
  readonly violations?: readonly string[];
  /** The string code of the error. */
  readonly error?: string;
  /** The caller's `traceparent`, as it came (W3C Trace Context); no part of the log. */
  readonly traceParent?: string;
}
