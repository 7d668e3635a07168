import type {
  ChatCompletionChunk as ChatCompletionChunkSchema,
  ChatCompletionRequest,
  ChatCompletion as ChatCompletionSchema,
  ChatContentPart as ChatContentPartSchema,
  ChatMessage as ChatMessageSchema,
  ChatToolCall as ChatToolCallSchema,
  ChatTool as ChatToolSchema,
} from '../../../../src/api/gateway/chat.ts';
import type { Value } from '../../../../src/api/schema.ts';

/**
 * The chat-completions dialect, which is also the form in which one dialect becomes another. Fields that the
 * contract does not name are kept. What other dialects have beyond it travels in fields of its family:
 * `reasoning_content` (text) on messages and deltas for thinking, `cache_control` on parts, tools and messages,
 * and `provider_content` (opaque, given back unchanged) for signatures and the like.
 */
export type ChatRequest = Value<typeof ChatCompletionRequest>;
/** One message of a conversation. */
export type ChatMessage = Value<typeof ChatMessageSchema>;
/** One part of a message. */
export type ChatContentPart = Value<typeof ChatContentPartSchema>;
/** A tool that the model may call. */
export type ChatTool = Value<typeof ChatToolSchema>;
/** A call of a tool that the model asks for. */
export type ChatToolCall = Value<typeof ChatToolCallSchema>;
/** A whole answer. */
export type ChatCompletion = Value<typeof ChatCompletionSchema>;
/** One event of a streamed answer. The last one before the end has the usage and no choices, when it was asked for. */
export type ChatChunk = Value<typeof ChatCompletionChunkSchema>;
