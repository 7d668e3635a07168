const NEWLINE = 0x0a;

/** Which lines of a text. */
export interface LineWindow {
  /** The first one, from 1. */
  readonly offset: number;
  /** How many; all that follow when absent. */
  readonly limit?: number;
}

/** The lines of a window with their ends, from the bytes of a whole text. It reads no further than it must. */
export async function* selectLines(
  bytes: AsyncIterable<Uint8Array>,
  { offset, limit = Number.MAX_SAFE_INTEGER }: LineWindow,
): AsyncGenerator<Uint8Array> {
  let before = offset - 1;
  let left = limit;
  for await (const part of bytes) {
    let start = 0;
    for (; before > 0; before--) {
      const end = part.indexOf(NEWLINE, start);
      if (end < 0) break;
      start = end + 1;
    }
    if (before > 0) continue;
    let at = start;
    while (left > 0) {
      const end = part.indexOf(NEWLINE, at);
      if (end < 0) break;
      at = end + 1;
      left--;
    }
    const selected = left > 0 ? part.subarray(start) : part.subarray(start, at);
    if (selected.length > 0) yield selected;
    if (left <= 0) return;
  }
}
