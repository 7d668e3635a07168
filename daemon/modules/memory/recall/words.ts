/** Scripts that are written without spaces: each character of them is a word of the index. */
const UNSPACED =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}';
const ONE_UNSPACED = new RegExp(`[${UNSPACED}]`, 'gu');
/** Words, and runs of characters without spaces between. */
const RUN = new RegExp(`(?<unspaced>[${UNSPACED}]+)|(?:(?![${UNSPACED}])[\\p{L}\\p{M}\\p{N}])+`, 'gu');
const MOST_TERMS = 24;
const LONGEST_WORD = 64;

/** A text as the full-text index gets it: characters of scripts without spaces stand apart. */
export function indexed(text: string): string {
  return text.replace(ONE_UNSPACED, ' $& ');
}

/**
 * The words that are looked for, each an expression of FTS5 (sqlite.org/fts5.html, section 3): a quoted word, or two
 * neighbours of a script without spaces as a phrase. None holds an operator. At most 24, each once.
 */
export function termsOf(query: string): string[] {
  const terms = new Set<string>();
  for (const { 0: run, groups } of query.toLowerCase().matchAll(RUN)) {
    const found = groups?.unspaced === undefined ? [run.slice(0, LONGEST_WORD)] : neighbours([...run]);
    for (const term of found) {
      terms.add(`"${term}"`);
      if (terms.size === MOST_TERMS) return [...terms];
    }
  }
  return [...terms];
}

function neighbours(characters: readonly string[]): string[] {
  if (characters.length === 1) return [...characters];
  return characters.slice(1).map((second, i) => `${characters[i]} ${second}`);
}
