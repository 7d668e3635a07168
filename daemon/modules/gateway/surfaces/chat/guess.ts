import type { Usage } from '../../wire/usage.ts';

const CHARS_PER_TOKEN = 4;

/** What a completion took, when its provider does not say or was left: four characters a token, one token an event. */
export function guessUsage(request: { readonly messages: unknown }, outputTokens: number): Usage {
  const chars = JSON.stringify(request.messages).length;
  return { input: Math.ceil(chars / CHARS_PER_TOKEN), output: Math.ceil(outputTokens), estimated: true };
}
