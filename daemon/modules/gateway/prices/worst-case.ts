import type { ModelRequest } from '../pipeline/call.ts';
import type { Usage } from '../wire/usage.ts';

/** Letters of most languages take four bytes a token or more, others about three for one letter, which is one token. */
const BYTES_OF_TOKEN = 3;
/** Tokens of a picture, a file or a sound in a prompt, whose length in text says nothing. */
const TOKENS_OF_MEDIA = 2000;
/** What an answer is taken to be at most when the request does not say. */
const OUTPUT_UNSAID = 4096;
/** Fields that hold a picture, a file or a sound in the dialects of providers. */
const MEDIA: ReadonlySet<string> = new Set(['url', 'image_url', 'data', 'file_data']);
/** An address is shorter. */
const SHORTEST_MEDIA = 2000;

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
  // Of several limits providers choose as they like.
  const said = [max_completion_tokens, max_output_tokens, max_tokens].filter(isCount);
  const output = said.length > 0 ? Math.max(...said) : OUTPUT_UNSAID;
  return {
    input: Math.min(promptTokens(request), contextWindow),
    output: Math.min(output, contextWindow) * (isCount(n) ? n : 1),
  };
}

/** Tokens that a prompt is expected to have, by its length. */
export function promptTokens(request: ModelRequest): number {
  return tokensOf(request);
}

/** Tokens of every text in it. Does not build the text of the whole. */
function tokensOf(value: unknown, field = ''): number {
  if (typeof value === 'string') return MEDIA.has(field) ? tokensOfMedia(value) : tokensOfText(value);
  if (typeof value === 'number') return 1;
  if (typeof value !== 'object' || value === null) return 0;
  let tokens = 0;
  for (const key in value)
    tokens += tokensOfText(key) + tokensOf((value as Record<string, unknown>)[key], key);
  return tokens;
}

function tokensOfMedia(text: string): number {
  return text.length < SHORTEST_MEDIA ? tokensOfText(text) : TOKENS_OF_MEDIA;
}

function tokensOfText(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_OF_TOKEN);
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}
