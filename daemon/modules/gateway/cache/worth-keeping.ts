import type { Surface } from '../pipeline/call.ts';

/** Larger answers are not kept, in characters. */
const MOST_CHARS = 1024 * 1024;

/** Ends of answers that are whole, in the words of chat and text completions. */
const FINISHED = new Set(['stop', 'length', 'tool_calls', 'function_call']);
/** The same in the words of messages. */
const STOPPED = new Set(['end_turn', 'stop_sequence', 'tool_use', 'max_tokens']);

interface Ended {
  readonly error?: unknown;
  readonly choices?: ReadonlyArray<{ readonly finish_reason?: string | null }>;
  readonly stop_reason?: string | null;
  readonly status?: string;
}

/** Tells of the text of an answer whether it is a whole one: not refused by a filter, not broken off, no error. */
type IsWhole = (answer: Ended) => boolean;

const byChoices: IsWhole = ({ choices = [] }) =>
  choices.length > 0 && choices.every(({ finish_reason }) => FINISHED.has(finish_reason ?? ''));

/** The surfaces whose answers are kept, with how a whole one is known. */
const WHOLE: Partial<Record<Surface, IsWhole>> = {
  chat: byChoices,
  completions: byChoices,
  messages: ({ stop_reason }) => STOPPED.has(stop_reason ?? ''),
  responses: ({ status }) => status === 'completed',
  embeddings: () => true,
  moderations: () => true,
  rerank: () => true,
};

/** Whether answers of a surface are kept at all. */
export function isCached(surface: Surface): boolean {
  return WHOLE[surface] !== undefined;
}

/** Whether an answer, as JSON, is worth keeping. */
export function isWorthKeeping(surface: Surface, body: string): boolean {
  if (body.length > MOST_CHARS) return false;
  try {
    const answer = JSON.parse(body) as Ended | null;
    if (typeof answer !== 'object' || answer === null || answer.error) return false;
    return WHOLE[surface]?.(answer) ?? false;
  } catch {
    return false;
  }
}
