import { isCount } from '../../wire/count.ts';
import type { Usage } from '../../wire/usage.ts';
import type { ResponseObject } from './wire.ts';

/** The tokens of a response, as this dialect counts them. */
export type ResponseUsage = NonNullable<ResponseObject['usage']>;

const CHARS_PER_TOKEN = 4;

/** The same counts in the words of this dialect. */
export function toResponseUsage({ input, output, cachedInput, reasoning }: Usage): ResponseUsage {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cachedInput ?? 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning ?? 0 },
    total_tokens: input + output,
  };
}

/** What a response reports of its use; undefined when it reports nothing. */
export function usageOfResponse({ usage }: Pick<ResponseObject, 'usage'>): Usage | undefined {
  if (!isCount(usage?.input_tokens) || !isCount(usage.output_tokens)) return undefined;
  const cached = usage.input_tokens_details?.cached_tokens;
  const reasoning = usage.output_tokens_details?.reasoning_tokens;
  return {
    input: usage.input_tokens,
    output: usage.output_tokens,
    ...(cached ? { cachedInput: cached } : {}),
    ...(reasoning ? { reasoning } : {}),
  };
}

/** A guess for a response that reports nothing: four characters a token. */
export function guessUsage(input: unknown, { output }: Pick<ResponseObject, 'output'>): Usage {
  return { input: tokensIn(input), output: output.length === 0 ? 0 : tokensIn(output), estimated: true };
}

function tokensIn(value: unknown): number {
  return Math.ceil((JSON.stringify(value) ?? '').length / CHARS_PER_TOKEN);
}
