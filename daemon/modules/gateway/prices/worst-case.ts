import type { ModelRequest } from '../pipeline/call.ts';
import type { Usage } from '../wire/usage.ts';

/** Letters of most languages take four bytes a token or more, others about three for one letter, which is one token. */
const BYTES_OF_TOKEN = 3;
/** Tokens of a picture, a file or a sound in a prompt, whose length in text says nothing. */
const TOKENS_OF_MEDIA = 2000;
/** What an answer is taken to be at most when the request does not say. */
const OUTPUT_UNSAID = 4096;
/** A text of this length without a space is data. */
const DATA_LENGTH = 2000;

/** What requests of the surfaces say of the length of their answers. */
interface Lengths {
  readonly max_completion_tokens?: unknown;
  readonly max_output_tokens?: unknown;
  readonly max_tokens?: unknown;
  readonly n?: unknown;
}

/**
 * The most that a request is expected to take: its prompt by length, its answer by the limit that it sets, for each of
 * the answers that it asks for. Cut to what the model can read where that is known.
 */
export function worstCase(request: ModelRequest, contextWindow = Number.POSITIVE_INFINITY): Usage {
  const { max_completion_tokens, max_output_tokens, max_tokens, n } = request as ModelRequest & Lengths;
  const output = [max_completion_tokens, max_output_tokens, max_tokens].find(isCount) ?? OUTPUT_UNSAID;
  return {
    input: Math.min(tokensOf(request), contextWindow),
    output: Math.min(output, contextWindow) * (isCount(n) ? n : 1),
  };
}

/** Tokens of every text in it. Does not build the text of the whole. */
function tokensOf(value: unknown): number {
  if (typeof value === 'string') return isData(value) ? TOKENS_OF_MEDIA : Math.ceil(Buffer.byteLength(value) / BYTES_OF_TOKEN);
  if (typeof value === 'number') return 1;
  if (typeof value !== 'object' || value === null) return 0;
  let tokens = 0;
  for (const key in value) tokens += Math.ceil(key.length / BYTES_OF_TOKEN) + tokensOf((value as Record<string, unknown>)[key]);
  return tokens;
}

function isData(text: string): boolean {
  return text.startsWith('data:') || (text.length > DATA_LENGTH && !/\s/.test(text.slice(0, DATA_LENGTH)));
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}
