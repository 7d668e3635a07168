import { readStdin } from '../../ui/prompt.ts';

/** The word that stands for what is in the pipe. */
const STDIN = '-';

/** Words of a command line, with what is in the pipe where they say so, or in their place when there are none. */
export async function questionText(words: readonly string[]): Promise<string> {
  const isPiped = words.length === 0 || words.includes(STDIN);
  const piped = isPiped ? await readStdin() : '';
  return words.length === 0 ? piped : join(words, piped);
}

function join(words: readonly string[], piped: string): string {
  const at = words.indexOf(STDIN);
  if (at < 0) return words.join(' ');
  return [words.slice(0, at).join(' '), piped, words.slice(at + 1).join(' ')]
    .filter((part) => part !== '')
    .join('\n\n');
}
