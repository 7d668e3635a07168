import type { ModelRequest } from './books.ts';
import { textOf } from './conversation.ts';

/**
 * What the model `summary` says: the words of the conversation that begin with `keep-`, each once. Undefined for other models.
 */
export function summaryOf({ model, messages }: ModelRequest): string | undefined {
  if (model !== 'summary') return undefined;
  const kept =
    messages
      .map(textOf)
      .join(' ')
      .match(/\bkeep-\w+/g) ?? [];
  return `In short: ${[...new Set(kept)].join(' ')}`;
}
