/** Bytes of UTF-8 that a model is given of one result. */
export const MOST_RESULT_BYTES = 32 * 1024;

/** How much of what is shown is the beginning. */
const HEAD_SHARE = 0.6;
/** Room for the words in the middle. */
const NOTE_BYTES = 512;

/**
 * A result as a model is given it: at most 32 KiB of UTF-8. Of a longer one the middle is left out, in whole characters, and what is
 * missing is said; `keep` is handed the whole then, and answers the id of the artifact that it has become, or undefined when
 * there is no room for it.
 */
export function capped(output: string, keep: (whole: string) => string | undefined): string {
  const bytes = Buffer.from(output);
  if (bytes.length <= MOST_RESULT_BYTES) return output;
  const room = MOST_RESULT_BYTES - NOTE_BYTES;
  const head = beforeOrAt(bytes, Math.floor(room * HEAD_SHARE));
  const tail = afterOrAt(bytes, bytes.length - (room - head));
  const id = keep(output);
  const whole =
    id === undefined
      ? 'the whole could not be kept'
      : `the whole is artifact ${id}: read_artifact with offset ${head} goes on here`;
  const note = `\n[${tail - head} of ${bytes.length} bytes are left out; ${whole}]\n`;
  return bytes.toString('utf8', 0, head) + note + bytes.toString('utf8', tail);
}

/** The last place at or before one where a character begins. */
export function beforeOrAt(bytes: Uint8Array, place: number): number {
  let at = Math.min(place, bytes.length);
  while (at > 0 && at < bytes.length && isInside(bytes[at])) at--;
  return at;
}

/** The first place at or after one where a character begins. */
export function afterOrAt(bytes: Uint8Array, place: number): number {
  let at = Math.max(place, 0);
  while (at < bytes.length && isInside(bytes[at])) at++;
  return at;
}

function isInside(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
