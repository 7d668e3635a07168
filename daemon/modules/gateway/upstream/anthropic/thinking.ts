import type { ChatMessage, ChatRequest } from '../../wire/chat.ts';
import type { MessagesRequest } from '../../wire/messages.ts';
import type { ModelTraits } from './model.ts';
import { isThinking, ownBlocks } from './provider-content.ts';

/** The part of a request that says how much the model thinks. */
export type Reasoning = Pick<MessagesRequest, 'thinking'> & { readonly effort?: string };

/** The share of the answer's tokens that each effort may spend on thinking, where a budget is asked for. */
const SHARES: Readonly<Record<string, number>> = {
  minimal: 0.1,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.9,
  max: 0.9,
};
const LEAST_BUDGET = 1024;

/**
 * How much the model is to think. `thinking` of the request, in this dialect's own words, goes before `reasoning_effort`.
 * `none` is as little as the model allows: nothing, or the lowest effort where thinking cannot be turned off.
 */
export function reasoningOf(request: ChatRequest, traits: ModelTraits, maxTokens: number): Reasoning {
  const { thinking, reasoning_effort: effort } = request as ChatRequest & Pick<MessagesRequest, 'thinking'>;
  if (typeof thinking === 'object' && thinking !== null)
    return { thinking, effort: effort ? effortFor(effort, traits) : undefined };
  if (!effort) return {};
  if (traits.thinking === 'adaptive') return adaptive(effort, traits, request);
  if (effort === 'none' || traits.thinking === 'none') return {};
  return { ...budgeted(effort, maxTokens, request), effort: effortFor(effort, traits) };
}

/** From the effort alone; the text of the thinking is asked for, since newer models leave it out otherwise. */
function adaptive(effort: string, traits: ModelTraits, request: ChatRequest): Reasoning {
  if (effort === 'none') return { effort: 'low' };
  const level = effortFor(effort, traits);
  return isForced(request)
    ? { effort: level }
    : { thinking: { type: 'adaptive', display: 'summarized' }, effort: level };
}

/** Thinking with a budget cannot go with a forced tool, nor go on from a call of a tool whose thinking is lost. */
function budgeted(effort: string, maxTokens: number, request: ChatRequest): Pick<Reasoning, 'thinking'> {
  const share = Math.floor(maxTokens * (SHARES[effort] ?? SHARES.medium ?? 0));
  const budget = Math.max(LEAST_BUDGET, share);
  if (budget >= maxTokens || isForced(request) || hasLostThinking(request.messages)) return {};
  return { thinking: { type: 'enabled', budget_tokens: budget } };
}

function effortFor(effort: string, { effort: strongest }: ModelTraits): string | undefined {
  if (strongest === 'none') return undefined;
  if (effort === 'none' || effort === 'minimal') return 'low';
  if (effort === 'xhigh') return strongest === 'xhigh' ? 'xhigh' : 'high';
  if (effort === 'max') return strongest === 'high' ? 'high' : 'max';
  return effort;
}

function isForced({ tool_choice: choice }: ChatRequest): boolean {
  return choice !== undefined && choice !== null && choice !== 'auto' && choice !== 'none';
}

/** Whether the turn that is going on has called tools and came back without its thinking. */
function hasLostThinking(messages: readonly ChatMessage[]): boolean {
  const last = messages.findLast(({ role }) => role !== 'tool' && role !== 'function');
  if (last?.role !== 'assistant' || !last.tool_calls?.length) return false;
  return !ownBlocks(last).some(isThinking);
}
