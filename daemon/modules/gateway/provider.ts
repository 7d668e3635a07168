import type { ChatCompletionRequest } from '../../../src/api/gateway/chat.ts';
import type { Value } from '../../../src/api/schema.ts';

/** A chat completion as the caller asked for it. Fields that the contract does not name are kept. */
export type ChatRequest = Value<typeof ChatCompletionRequest>;

/** A model under the name that its provider gives it. */
export interface ModelInfo {
  readonly id: string;
  /** Unix time in seconds; 0 when the provider does not say. */
  readonly created: number;
}

/** The tokens of one completion, as the provider reports them. */
export interface Usage {
  readonly input: number;
  readonly output: number;
}

/** What goes with one completion. */
export interface ChatContext {
  /** Aborted when the caller leaves. */
  readonly signal: AbortSignal;
  /** Told once, when the answer is complete and reported its usage. */
  used(usage: Usage): void;
}

/** Something that has models and answers with them. */
export interface Provider {
  readonly name: string;
  /** It answers for the models of its list and no others. */
  readonly closed: boolean;
  /** Its models. Never fails: a list that cannot be had is empty or the last one. */
  models(): Promise<readonly ModelInfo[]>;
  /** Answers in the dialect of stock clients. `request.model` is the provider's own name of the model. */
  complete(request: ChatRequest, context: ChatContext): Promise<Response>;
}
