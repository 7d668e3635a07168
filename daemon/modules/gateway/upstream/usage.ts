import type { Usage } from '../provider.ts';

/** The usage that a completion or its last event reports; undefined when it reports none. */
export function usageOf(value: unknown): Usage | undefined {
  const usage = (value as { usage?: { prompt_tokens?: unknown; completion_tokens?: unknown } } | null)?.usage;
  const { prompt_tokens: input, completion_tokens: output } = usage ?? {};
  return isCount(input) && isCount(output) ? { input, output } : undefined;
}

/** The usage in a whole answer. */
export function usageInText(text: string): Usage | undefined {
  try {
    return usageOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** The usage in the last events of a stream, whose first line may be cut. */
export function usageInEvents(tail: string): Usage | undefined {
  for (const line of tail.split('\n').toReversed()) {
    const usage = line.startsWith('data:') ? usageInText(line.slice('data:'.length)) : undefined;
    if (usage) return usage;
  }
  return undefined;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && Number.isFinite(value);
}
