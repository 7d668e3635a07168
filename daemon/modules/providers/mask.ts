import { maskKey } from '../../../src/kit/redact.ts';

/** What is shown of a key that cannot be had, or has no end that tells it from others. */
export const MASK = '****';

/** A key as people may see it: at most its last four characters. Short ones and service accounts show nothing. */
export function masked(secret: string | undefined): string {
  return secret === undefined || secret.startsWith('{') ? MASK : maskKey(secret);
}

/** Whether a text is a masked key, as answers have them. */
export function isMasked(text: string): boolean {
  return text.startsWith(MASK);
}
