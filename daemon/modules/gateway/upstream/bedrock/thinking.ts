import type { ChatRequest } from '../../wire/chat.ts';
import { isObject } from '../translate/content.ts';
import type { Traits } from './models.ts';
import { keptReasoning } from './turns.ts';

const LEAST_BUDGET = 1024;
const BUDGETS: Readonly<Record<string, number>> = {
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 24_576,
  max: 24_576,
};
/** Room for the answer beside the thoughts when the caller sets none. */
const ANSWER_TOKENS = 8192;
const EFFORTS: Readonly<Record<string, string>> = {
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'max',
};

/** How a model is asked to think. */
export interface Thinking {
  /** For additionalModelRequestFields. */
  readonly fields: Record<string, unknown>;
  /** The most tokens of thoughts and answer, where thinking needs more than was asked for. */
  readonly maxTokens?: number;
}

/** Undefined when the model is not asked to think, or cannot be asked. */
export function thinkingOf(request: ChatRequest, traits: Traits): Thinking | undefined {
  const { reasoning_effort: effort } = request;
  const { thinking } = request as { thinking?: unknown };
  const budget = isObject(thinking) && thinking.type === 'enabled' ? thinking.budget_tokens : undefined;
  if ((!effort || effort === 'none') && typeof budget !== 'number') return undefined;
  const level = effort ?? 'high';
  if (traits.isGptOss)
    return { fields: { reasoning_effort: EFFORTS[level] === 'max' ? 'high' : EFFORTS[level] } };
  if (traits.isNova)
    return { fields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: novaEffort(level) } } };
  if (!traits.isClaude || traits.generation < 37 || lostThoughts(request)) return undefined;
  if (traits.generation >= 46 && typeof budget !== 'number') return adaptive(level, traits);
  return budgeted(typeof budget === 'number' ? budget : (BUDGETS[level] ?? ANSWER_TOKENS), request);
}

function novaEffort(level: string): string {
  const effort = EFFORTS[level] ?? 'medium';
  return effort === 'max' ? 'high' : effort;
}

function adaptive(level: string, { generation }: Traits): Thinking {
  const display = generation >= 47 ? { display: 'summarized' } : {};
  return {
    fields: {
      thinking: { type: 'adaptive', ...display },
      output_config: { effort: EFFORTS[level] ?? 'high' },
    },
  };
}

function budgeted(wished: number, request: ChatRequest): Thinking | undefined {
  const most = request.max_completion_tokens ?? request.max_tokens;
  const budget = Math.max(LEAST_BUDGET, most ? Math.min(wished, most - LEAST_BUDGET) : wished);
  if (most && most <= budget) return undefined;
  const fields = { thinking: { type: 'enabled', budget_tokens: budget } };
  return most ? { fields } : { fields, maxTokens: budget + ANSWER_TOKENS };
}

/** A call that is being worked on, made by another model: without its thoughts the model refuses to think further. */
function lostThoughts({ messages }: ChatRequest): boolean {
  const lastUser = messages.findLastIndex(({ role }) => role === 'user');
  return messages
    .slice(lastUser + 1)
    .some((message) => (message.tool_calls?.length ?? 0) > 0 && keptReasoning(message).length === 0);
}
