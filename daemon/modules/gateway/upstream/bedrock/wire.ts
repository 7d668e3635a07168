/** The dialect of Converse, as far as it is used here (Amazon Bedrock API reference: Converse, ContentBlock). */
export type Block =
  | { text: string }
  | { image: { format: string; source: Source } }
  | { document: { format: string; name: string; source: Source } }
  | { video: { format: string; source: Source } }
  | { toolUse: { toolUseId: string; name: string; input: unknown } }
  | { toolResult: { toolUseId: string; content: Block[]; status?: 'success' | 'error' } }
  | { reasoningContent: Reasoning }
  | CachePoint;

/** Thoughts: with their signature, or sealed. */
export interface Reasoning {
  reasoningText?: { text: string; signature?: string };
  /** Base64. */
  redactedContent?: string;
}

/** What stands before it is kept for later requests. */
export interface CachePoint {
  cachePoint: { type: 'default'; ttl?: '5m' | '1h' };
}

/** Where the bytes of a picture, a document or a video are. */
export type Source = { bytes: string } | { s3Location: { uri: string } };

/** One turn; turns alternate. */
export interface Turn {
  role: 'user' | 'assistant';
  content: Block[];
}

/** A tool, or a point up to which tools are cached. */
export type ToolEntry =
  | { toolSpec: { name: string; description?: string; inputSchema: { json: unknown }; strict?: boolean } }
  | CachePoint;

/** What Converse and ConverseStream take. */
export interface ConverseRequest {
  messages: Turn[];
  system?: ({ text: string } | CachePoint)[];
  inferenceConfig?: { maxTokens?: number; temperature?: number; topP?: number; stopSequences?: string[] };
  toolConfig?: { tools: ToolEntry[]; toolChoice?: Record<string, unknown> };
  additionalModelRequestFields?: Record<string, unknown>;
  outputConfig?: Record<string, unknown>;
  serviceTier?: { type: string };
  requestMetadata?: Record<string, string>;
  guardrailConfig?: unknown;
  performanceConfig?: unknown;
}

/** Token counts; those of the cache stand beside `inputTokens`. */
export interface ConverseUsage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly cacheReadInputTokens?: number;
  readonly cacheWriteInputTokens?: number;
}

/** A block of an answer. */
export interface AnswerBlock {
  readonly text?: string;
  readonly toolUse?: { readonly toolUseId: string; readonly name: string; readonly input?: unknown };
  readonly reasoningContent?: Reasoning;
  /** A text that stands on sources. */
  readonly citationsContent?: { readonly content?: readonly { readonly text?: string }[] };
}

/** What Converse answers. */
export interface ConverseAnswer {
  readonly output?: { readonly message?: { readonly content?: readonly AnswerBlock[] } };
  readonly stopReason?: string;
  readonly usage?: ConverseUsage;
}

/** What one event of ConverseStream may hold. */
export interface ConverseEvent {
  readonly contentBlockIndex?: number;
  readonly start?: { readonly toolUse?: { readonly toolUseId: string; readonly name: string } };
  readonly delta?: {
    readonly text?: string;
    readonly toolUse?: { readonly input?: string };
    readonly reasoningContent?: {
      readonly text?: string;
      readonly signature?: string;
      readonly redactedContent?: string;
    };
  };
  readonly stopReason?: string;
  readonly usage?: ConverseUsage;
  readonly message?: string;
}
