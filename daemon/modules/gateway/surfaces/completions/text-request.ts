import type { CompletionRequest } from '../../../../../src/api/gateway/completions.ts';
import type { Value } from '../../../../../src/api/schema.ts';

/** A text completion, as stock clients ask for it. */
export type TextRequest = Value<typeof CompletionRequest>;
