/** A part of a message (Cohere API reference: Chat v2). */
export type CoherePart =
  | { type: 'text'; text: string }
  | { type: 'thinking'; thinking: string }
  | { type: 'image_url'; image_url: { url: string; detail?: string } };

/** A message of a conversation. */
export interface CohereMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content?: string | CoherePart[];
  tool_calls?: CohereCall[];
  tool_plan?: string;
  tool_call_id?: string;
}

/** A call of a tool; `arguments` is JSON text. */
export interface CohereCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

/** What was read and written, and what of it is billed. */
export interface CohereUsage {
  readonly billed_units?: CohereCounts;
  readonly tokens?: CohereCounts;
  readonly cached_tokens?: number;
}

/** Counts of one kind. */
export interface CohereCounts {
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly search_units?: number;
}

/** The answer that does not stream. */
export interface CohereAnswer {
  readonly id?: string;
  readonly finish_reason?: string;
  readonly message?: {
    readonly content?:
      | readonly { readonly type?: string; readonly text?: string; readonly thinking?: string }[]
      | null;
    readonly tool_plan?: string | null;
    readonly tool_calls?: readonly CohereCall[] | null;
    readonly citations?: readonly CohereCitation[] | null;
  };
  readonly usage?: CohereUsage | null;
}

/** Which characters of the text stand on which sources. */
export interface CohereCitation {
  readonly start?: number;
  readonly end?: number;
  readonly sources?: readonly {
    readonly id?: string;
    readonly document?: { readonly url?: string; readonly title?: string };
  }[];
}

/** One event of a streamed answer. */
export interface CohereEvent {
  readonly type?: string;
  readonly id?: string;
  readonly delta?: {
    readonly message?: {
      readonly content?: { readonly type?: string; readonly text?: string; readonly thinking?: string };
      readonly tool_plan?: string;
      readonly tool_calls?: {
        readonly id?: string;
        readonly function?: { readonly name?: string; readonly arguments?: string };
      };
      readonly citations?: CohereCitation;
    };
    readonly finish_reason?: string;
    readonly error?: string;
    readonly usage?: CohereUsage;
  };
}
