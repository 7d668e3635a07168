/** The bytes that a Range header asks for; undefined for all of them, `none` when there are no such bytes. */
export type ByteRange = { readonly start: number; readonly end: number } | 'none' | undefined;

/**
 * Reads a Range header (RFC 9110, 14.2) for a file of this size. One range is understood; a header that is
 * something else counts as absent, as the RFC allows. `end` is exclusive.
 */
export function readRange(header: string | null, size: number): ByteRange {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/i.exec(header?.trim() ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length > 0 ? { start: size - length, end: size } : 'none';
  }
  const start = Number(first);
  const end = last === '' ? size : Math.min(Number(last) + 1, size);
  if (last !== '' && Number(last) < start) return undefined;
  return start < size ? { start, end } : 'none';
}
