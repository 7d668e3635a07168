import { UpstreamError } from '../../../upstream/error.ts';
import type { ChatMessage } from '../../../wire/chat.ts';

/** Whether a provider refuses a conversation for its length. */
export function isTooLong(error: unknown): boolean {
  if (!(error instanceof UpstreamError) || error.kind !== 'request') return false;
  return (
    error.details.code === 'context_length_exceeded' ||
    error.details.status === 413 ||
    /context.?(length|window)|maximum.{0,20}tokens|(prompt|input).{0,12}too long/i.test(error.message)
  );
}

/**
 * The later half of a conversation, from where a user speaks, with all instructions (`truncation: auto`). Undefined when nothing can
 * be left out: what was said last stays.
 */
export function laterHalf(messages: readonly ChatMessage[]): ChatMessage[] | undefined {
  const isInstruction = ({ role }: ChatMessage) => role === 'system' || role === 'developer';
  const spoken = messages.filter((message) => !isInstruction(message));
  const half = Math.ceil(spoken.length / 2);
  const next = spoken.findIndex(({ role }, i) => i >= half && role === 'user');
  const from = next > 0 ? next : spoken.findLastIndex(({ role }) => role === 'user');
  if (from <= 0) return undefined;
  return [...messages.filter(isInstruction), ...spoken.slice(from)];
}
