import type { GeminiLogprobs, GeminiToken } from './wire.ts';

const encoder = new TextEncoder();

/** The likelihoods of the tokens as this family has them; undefined without. */
export function logprobsOf(result: GeminiLogprobs | undefined): Record<string, unknown> | undefined {
  if (!result?.chosenCandidates) return undefined;
  const content = result.chosenCandidates.map((token, place) => ({
    ...likelihood(token),
    top_logprobs: (result.topCandidates?.[place]?.candidates ?? []).map(likelihood),
  }));
  return { content, refusal: null };
}

function likelihood({ token = '', logProbability = 0 }: GeminiToken) {
  return { token, logprob: logProbability, bytes: [...encoder.encode(token)] };
}
