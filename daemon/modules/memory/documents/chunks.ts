/** A piece of a text: from `start` up to `end`, in UTF-16 units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Where a text may be cut, best first. Each matches up to the end of the part before the cut. */
const CUTS = [/\n[ \t\r]*\n\s*/g, /\n\s*/g, /[.!?…。！？]["'”’)\]]*\s+|[。！？]/g, /\s+/g];
/** The share of a chunk that the next one repeats. */
const OVERLAP = 1 / 8;

/**
 * Cuts a text into pieces of at most `size` characters: at the end of a paragraph where there is one in the second half of a
 * piece, else at the end of a line, a sentence, or a word. A piece begins with the last words of the one before, at most an
 * eighth of `size`. Together they cover the text but for white space at their ends; no piece is empty.
 */
export function* spansOf(text: string, size: number): Generator<Span> {
  let from = nextWord(text, 0);
  while (from < text.length) {
    const isLast = text.length - from <= size;
    const to = isLast ? text.length : cutIn(text, from, size);
    const span = trimmed(text, from, to);
    if (span) yield span;
    if (isLast) return;
    from = nextWord(text, overlapping(text, from, to, Math.floor(size * OVERLAP)));
  }
}

/** The place of the last good cut in the second half of what a piece may hold. */
function cutIn(text: string, from: number, size: number): number {
  const half = from + Math.ceil(size / 2);
  const window = text.slice(half, from + size);
  for (const cut of CUTS) {
    let end = 0;
    for (const match of window.matchAll(cut)) end = match.index + match[0].length;
    if (end > 0) return half + end;
  }
  return whole(text, from + size);
}

/** Where the next piece begins: at a word in the last `most` characters before `to`, or at `to`. */
function overlapping(text: string, from: number, to: number, most: number): number {
  const earliest = Math.max(from + 1, to - most);
  const gap = /\s\S/.exec(text.slice(earliest - 1, to));
  return gap ? earliest + gap.index : to;
}

function nextWord(text: string, from: number): number {
  const space = /\s*/y;
  space.lastIndex = from;
  space.test(text);
  return space.lastIndex;
}

function trimmed(text: string, from: number, to: number): Span | undefined {
  const piece = text.slice(from, to);
  const start = from + piece.length - piece.trimStart().length;
  const end = from + piece.trimEnd().length;
  return start < end ? { start, end } : undefined;
}

/** The place itself, or the one before when it would part the two halves of a character. */
function whole(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at;
}
