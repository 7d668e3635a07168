const segmenter = new Intl.Segmenter('und', { granularity: 'word' });

/** The longest part of a text that is segmented at once; it is cut at white space where there is any. */
const PIECE_CHARS = 4096;

/**
 * The words of a text by Unicode word segmentation (UAX 29), in their order, without punctuation and with no difference of
 * case or of compatible forms (NFKC). Made as they are taken.
 */
export function* wordsIn(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const end = endOfPiece(text, start);
    for (const { segment, isWordLike } of segmenter.segment(text.slice(start, end)))
      if (isWordLike) yield segment.normalize('NFKC').toLowerCase();
    start = end;
  }
}

function endOfPiece(text: string, start: number): number {
  const most = start + PIECE_CHARS;
  if (most >= text.length) return text.length;
  for (let end = most; end > start; end--) if (/\s/.test(text[end] ?? '')) return end;
  return most;
}
