import type { ModelRequest } from './books.ts';
import { textOf } from './messages.ts';
import { hasScript } from './script.ts';

/**
 * What the model says where it is no agent's turn; undefined where it is. The model `summary` says the words of the conversation that
 * begin with `keep-`. Asked about what somebody has said, as a JSON string, any model answers with the facts in it: lines
 * of a script like `# fact user.city = Lisbon`.
 */
export function sideAnswer({ model, messages }: ModelRequest): string | undefined {
  const texts = messages.map(textOf);
  if (model === 'summary') {
    const kept = texts.join(' ').match(/\bkeep-\w+/g) ?? [];
    return `In short: ${[...new Set(kept)].join(' ')}`;
  }
  const quoted = texts.at(-1)?.match(/"#!script.*"/)?.[0];
  if (texts.some(hasScript) || quoted === undefined) return undefined;
  const lines = String(JSON.parse(quoted)).matchAll(/^# fact (\S+) = (.+)$/gm);
  return JSON.stringify({ facts: Array.from(lines, ([, factKey, content]) => ({ factKey, content })) });
}
