/** A place in a text, and what is there. */
export interface Span {
  readonly start: number;
  readonly end: number;
  readonly kind: string;
}

/** Looks for things in a piece of a text. Takes time that is linear in its length, and finds nothing longer than OVERLAP. */
export type Finder = (piece: string) => Iterable<Span>;

/** Characters that are looked at in one go. */
const WINDOW = 32 * 1024;
/** Longest thing that is found, and how far before a piece the text is seen. */
const OVERLAP = 512;
const BEFORE = 64;
const TURN_MS = 3;

/** Lets others have their turn when this work has had the thread for some milliseconds. */
export class Turn {
  private since = performance.now();

  async pause(): Promise<void> {
    if (performance.now() - this.since < TURN_MS) return;
    await new Promise(setImmediate);
    this.since = performance.now();
  }
}

/** What finders find in a text of any length, in order, nothing twice over. Where two find something, the earlier finder has it. */
export async function spansIn(text: string, finders: readonly Finder[], turn: Turn): Promise<Span[]> {
  const found: Array<Span & { rank: number }> = [];
  for (let from = 0; from < text.length; from += WINDOW) {
    const begin = Math.max(0, from - BEFORE);
    const piece = text.slice(begin, from + WINDOW + OVERLAP);
    for (const [rank, finder] of finders.entries()) {
      for (const { start, end, kind } of finder(piece)) {
        const at = start + begin;
        if (at >= from && at < from + WINDOW) found.push({ start: at, end: end + begin, kind, rank });
      }
      await turn.pause();
    }
  }
  return withoutOverlaps(found);
}

function withoutOverlaps(found: Array<Span & { rank: number }>): Span[] {
  const kept: Span[] = [];
  const taken: Array<readonly [number, number]> = [];
  found.sort((a, b) => a.start - b.start || a.rank - b.rank || b.end - a.end);
  for (const { start, end, kind } of found) {
    const last = taken.at(-1);
    if (last && start < last[1]) continue;
    taken.push([start, end]);
    kept.push({ start, end, kind });
  }
  return kept;
}

/** A finder of whatever a pattern matches. The pattern is global, and linear by construction: no repetition without a bound in it. */
export function pattern(
  kind: string,
  regex: RegExp,
  accept: (match: string) => boolean = () => true,
): Finder {
  return function* find(piece) {
    for (const match of piece.matchAll(regex)) {
      const [text] = match;
      if (accept(text)) yield { start: match.index, end: match.index + text.length, kind };
    }
  };
}
