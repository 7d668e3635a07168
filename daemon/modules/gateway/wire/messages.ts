import type {
  MessagesBlock as MessagesBlockSchema,
  MessagesCountRequest as MessagesCountRequestSchema,
  MessagesEvent as MessagesEventSchema,
  MessagesMessage as MessagesMessageSchema,
  MessagesRequest as MessagesRequestSchema,
  MessagesToolChoice as MessagesToolChoiceSchema,
  MessagesTool as MessagesToolSchema,
  MessagesTurn as MessagesTurnSchema,
  MessagesUsage as MessagesUsageSchema,
} from '../../../../src/api/gateway/messages.ts';
import type { Value } from '../../../../src/api/schema.ts';
import type { Usage } from './usage.ts';

/** The Messages dialect. Fields that the contract does not name are kept. */
export type MessagesRequest = Value<typeof MessagesRequestSchema>;
/** A conversation to count. */
export type MessagesCountRequest = Value<typeof MessagesCountRequestSchema>;
/** One turn of a conversation. */
export type MessagesTurn = Value<typeof MessagesTurnSchema>;
/** One block of a turn, told apart by `type`. */
export type MessagesBlock = Value<typeof MessagesBlockSchema>;
/** A tool that the model may call. */
export type MessagesTool = Value<typeof MessagesToolSchema>;
/** Whether and which tools the model calls. */
export type MessagesToolChoice = Value<typeof MessagesToolChoiceSchema>;
/** A whole answer. */
export type MessagesMessage = Value<typeof MessagesMessageSchema>;
/** One event of a streamed answer, told apart by `type`. */
export type MessagesEvent = Value<typeof MessagesEventSchema>;
/** The tokens of an answer, as this dialect counts them. */
export type MessagesUsage = Value<typeof MessagesUsageSchema>;

/**
 * The counts of several reports about one answer, the later ones first: a stream reports its input at the start and its
 * output, and sometimes its input once more, at the end. What is null or absent in one is looked for in the next.
 */
export function mergedUsage(...reports: readonly (MessagesUsage | undefined)[]): MessagesUsage {
  const merged: Record<string, unknown> = {};
  for (const report of reports)
    for (const [name, value] of Object.entries(report ?? {})) if (value !== null) merged[name] ??= value;
  return merged;
}

/** The same counts as the gateway books them: there, the input includes what was read from and written to caches. */
export function usageOfMessage(usage: MessagesUsage | undefined): Usage | undefined {
  if (usage?.output_tokens === undefined) return undefined;
  const cachedInput = usage.cache_read_input_tokens ?? 0;
  const cacheWrite = usage.cache_creation_input_tokens ?? 0;
  const reasoning = usage.output_tokens_details?.thinking_tokens;
  return {
    input: (usage.input_tokens ?? 0) + cachedInput + cacheWrite,
    output: usage.output_tokens,
    ...(cachedInput > 0 ? { cachedInput } : {}),
    ...(cacheWrite > 0 ? { cacheWrite } : {}),
    ...(reasoning === undefined ? {} : { reasoning }),
  };
}
