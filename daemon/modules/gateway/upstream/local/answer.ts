import type { ChatRequest } from '../../wire/chat.ts';
import { countWords, textOf, wordsOf } from './words.ts';

/** What local/echo answers, in the pieces in which it streams. */
export interface Answer {
  readonly pieces: readonly string[];
  readonly finishReason: 'stop' | 'length';
  /** Tokens are words here. */
  readonly usage: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly total_tokens: number;
  };
}

/**
 * Answers with the text of the last message of the user, up to `max_completion_tokens` or `max_tokens` words;
 * with nothing when the user said nothing.
 */
export function answerTo(request: ChatRequest): Answer {
  const said = request.messages.findLast(({ role }) => role === 'user');
  const all = wordsOf(said ? textOf(said) : '');
  const limit = request.max_completion_tokens ?? request.max_tokens ?? Number.POSITIVE_INFINITY;
  const pieces = firstWords(all, Math.max(0, limit));
  const prompt = request.messages.reduce((sum, message) => sum + countWords(textOf(message)), 0);
  const completion = countWords(pieces.join(''));
  return {
    pieces,
    finishReason: pieces.length < all.length ? 'length' : 'stop',
    usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
  };
}

function firstWords(pieces: readonly string[], limit: number): string[] {
  const leading = pieces[0]?.trim() === '' ? 1 : 0;
  return pieces.slice(0, limit + leading);
}
