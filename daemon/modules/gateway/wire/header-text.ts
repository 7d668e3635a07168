/**
 * A text as the value of a header: visible ASCII and blanks as they are, the rest in percent-encoding. Names of models come from callers and
 * may hold anything.
 */
export function headerText(text: string): string {
  return text.toWellFormed().replace(/[^\x20-\x7e]+/g, encodeURIComponent);
}
