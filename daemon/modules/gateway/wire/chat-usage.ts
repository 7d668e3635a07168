import { isCount } from './count.ts';
import type { Usage } from './usage.ts';

/** Usage as the chat family reports it: in `usage` of a completion or of a stream's last event. */
export interface ChatUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details?: {
    readonly cached_tokens?: number;
    readonly cache_write_tokens?: number;
  } | null;
  readonly completion_tokens_details?: { readonly reasoning_tokens?: number } | null;
}

/** The usage that a completion or its last event reports; undefined when it reports none. */
export function usageOf(value: unknown): Usage | undefined {
  const usage = (value as { usage?: Partial<ChatUsage> | null } | null)?.usage;
  const { prompt_tokens: input, completion_tokens: output = 0 } = usage ?? {};
  if (!isCount(input) || !isCount(output)) return undefined;
  return {
    input,
    output,
    ...counted('cachedInput', usage?.prompt_tokens_details?.cached_tokens),
    ...counted('cacheWrite', usage?.prompt_tokens_details?.cache_write_tokens),
    ...counted('reasoning', usage?.completion_tokens_details?.reasoning_tokens),
  };
}

/** Usage in the words of the chat family. */
export function toChatUsage({ input, output, cachedInput, cacheWrite, reasoning }: Usage): ChatUsage {
  const prompt = { ...counted('cached_tokens', cachedInput), ...counted('cache_write_tokens', cacheWrite) };
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    ...(Object.keys(prompt).length > 0 ? { prompt_tokens_details: prompt } : {}),
    ...(isCount(reasoning) && reasoning > 0
      ? { completion_tokens_details: { reasoning_tokens: reasoning } }
      : {}),
  };
}

/** The usage in a whole answer. */
export function usageInText(text: string): Usage | undefined {
  try {
    return usageOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function counted<N extends string>(name: N, count: unknown): { readonly [K in N]?: number } {
  return isCount(count) && count > 0 ? ({ [name]: count } as { [K in N]: number }) : {};
}
