import type { OutboundRequest } from '../../../outbound/outbound.ts';
import type { ProviderAccount, ProviderKey } from '../../providers/index.ts';
import type { ChatChunk, ChatCompletion, ChatRequest } from '../wire/chat.ts';
import type { Form } from '../wire/form.ts';
import type { Usage } from '../wire/usage.ts';

/** A model under the name that its provider gives it. */
export interface ModelInfo {
  readonly id: string;
  /** Unix time in seconds; 0 when the provider does not say. */
  readonly created: number;
}

/** One attempt at one upstream. */
export interface Upstream {
  readonly account: ProviderAccount;
  /** The key of this attempt; undefined when the provider needs none. */
  readonly key: ProviderKey | undefined;
  /** Aborted when the caller leaves or another attempt has won. */
  readonly signal: AbortSignal;
  /**
   * Calls `baseUrl + path` (or a whole URL of the same provider) through the one way out. `headers` must hold the credential. The answer has any status.
   * Errors: UpstreamError of kind network or timeout; cancelled.
   */
  fetch(path: string, init?: UpstreamInit): Promise<Response>;
}

/** One request of an attempt. POST when there is a body, else GET. */
export type UpstreamInit = Pick<OutboundRequest, 'method' | 'headers' | 'body'>;

/** An answer in the caller's own dialect, byte for byte or as an object. */
export interface RawAnswer {
  /** The headers that the caller gets (see pass-headers.ts), content-type among them. */
  readonly headers: Headers;
  readonly body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
  /** What a whole answer took; of a stream it is scanned for by the surface that reads it. */
  readonly usage?: Usage;
}

/** A chat completion that does not stream. `raw` is its text, when the upstream speaks this dialect. */
export interface WholeChat {
  readonly kind: 'whole';
  readonly headers: Headers;
  readonly completion: ChatCompletion;
  readonly raw?: string;
}

/**
 * A chat completion that streams. Whoever takes it reads `raw` where there is one, or else `chunks`, and reads once.
 * The first content has already arrived, so no other upstream may be tried from here on. Chunks fail with an
 * UpstreamError; a chunk with `usage` is there whether or not the caller asked for it.
 */
export interface StreamedChat {
  readonly kind: 'stream';
  readonly headers: Headers;
  readonly chunks: AsyncIterable<ChatChunk>;
  /** The very bytes, when the upstream speaks this dialect. */
  readonly raw?: ByteSource;
}

/** Bytes that are read piece by piece, once. A stream's reader is one. */
export interface ByteSource {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array }>;
  cancel(reason?: unknown): Promise<void>;
}

/**
 * Speaks the dialect of one kind of provider. Without state: everything of a call is in its arguments, and `model` in
 * a request is the provider's own name. What a dialect has no word for is left out. A method that is missing means that
 * the provider cannot do it. Every method throws UpstreamError for what the upstream refuses or fails at.
 */
export interface Adapter {
  /** Answers a chat completion, whole or as a stream by `request.stream`. */
  chat?(request: ChatRequest, upstream: Upstream): Promise<WholeChat | StreamedChat>;
  /** The same by POST of a JSON body on the given surface, in the caller's own dialect, bytes passing untouched. */
  relay?: Partial<Record<JsonSurface, Relay>>;
  /** The models that can be called now. */
  models?(upstream: Upstream): Promise<readonly ModelInfo[]>;
}

/** Headers of the caller that belong to the dialect and go on with its request: `anthropic-beta` and the like. */
export type PassedHeaders = Readonly<Record<string, string>>;

/** Passes a request on one surface. */
export type Relay = (request: RelayRequest, upstream: Upstream, passed?: PassedHeaders) => Promise<RawAnswer>;

/** A request on a surface other than chat, in the caller's dialect. */
export type RelayRequest = Readonly<Record<string, unknown>> & {
  readonly model: string;
  readonly stream?: boolean | null;
  /** Of a request that came as a form: sent with the plain values of this request in place of its fields. */
  readonly form?: Form;
};

/** Surfaces whose requests pass as JSON or as a form; see pipeline/call.ts for what each is. */
export type JsonSurface =
  | 'messages'
  | 'count_tokens'
  | 'responses'
  | 'completions'
  | 'embeddings'
  | 'image_generations'
  | 'image_edits'
  | 'image_variations'
  | 'speech'
  | 'transcriptions'
  | 'translations'
  | 'moderations'
  | 'rerank';
