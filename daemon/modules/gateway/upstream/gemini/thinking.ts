import type { ChatRequest } from '../../wire/chat.ts';
import { isObject } from '../translate/content.ts';

/** Tokens of thought for an effort, as the provider's own compatibility layer has them. */
const BUDGETS: Readonly<Record<string, number>> = {
  none: 0,
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 32_768,
  max: 32_768,
};
const LEVELS: Readonly<Record<string, string>> = {
  none: 'minimal',
  minimal: 'minimal',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
};
const LEAST_OF_PRO = 128;
/** Models that refuse to be asked about thinking. */
const WITHOUT_THOUGHT = /gemini-(1|2\.0|2\.5-flash-image)|gemma/;

/** How much the model may think, and whether it tells; undefined leaves it to the model. */
export function thinkingOf(request: ChatRequest): Record<string, unknown> | undefined {
  const { model, reasoning_effort: effort } = request;
  const { thinking } = request as { thinking?: unknown };
  if (WITHOUT_THOUGHT.test(model)) return undefined;
  if (isObject(thinking) && thinking.type === 'enabled' && typeof thinking.budget_tokens === 'number')
    return { thinkingBudget: thinking.budget_tokens, includeThoughts: true };
  if (!effort) return undefined;
  return { ...amountOf(model, effort), includeThoughts: effort !== 'none' };
}

/** Models of the third generation take a level, the others a budget; no Pro model can do without thought. */
function amountOf(model: string, effort: string): Record<string, unknown> {
  const isPro = model.includes('pro');
  if (/gemini-([3-9]|\d\d)/.test(model)) {
    const level = LEVELS[effort] ?? 'high';
    return { thinkingLevel: isPro && level === 'minimal' ? 'low' : level };
  }
  const budget = BUDGETS[effort] ?? BUDGETS.high;
  return { thinkingBudget: isPro && budget === 0 ? LEAST_OF_PRO : budget };
}
