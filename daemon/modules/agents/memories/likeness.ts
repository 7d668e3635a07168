import { createHash } from 'node:crypto';

/** Cosine from which two memories may say the same. */
export const NEARLY_THE_SAME = 0.9;

/** Words that carry nothing by themselves. Negations are none of them. */
const EMPTY_WORDS: ReadonlySet<string> = new Set(
  'a an the is are was were be been am to of in on at by for with and that this it its s user users their his her they he she i my me really very also just'.split(
    ' ',
  ),
);
const NEGATION = /\b(not|no|never|none|nothing|without|neither|nor|n't|stopped|quit)\b|n['’]t\b/iu;
const SHARED_STEM = 4;

/** A text as it is compared: form, case, spaces and the marks around it do not count. */
export function normalised(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .replace(/^[\p{P}\p{S}\s]+|[\p{P}\p{S}\s]+$/gu, '');
}

/** Equal for texts that are equal when they are normalised. */
export function digestOf(text: string): string {
  return createHash('sha256').update(normalised(text)).digest('hex');
}

/**
 * Whether a text whose vector is near that of an older one adds nothing to it. Vectors do not tell "likes red" from "likes teal", nor "likes"
 * from "does not like"; so each word of the new text that carries something must be in the old one, and both deny or none does.
 */
export function addsNothing(text: string, older: string): boolean {
  if (NEGATION.test(text) !== NEGATION.test(older)) return false;
  const there = carriers(older);
  return carriers(text).every((word) => there.some((other) => isOneWord(word, other)));
}

function carriers(text: string): string[] {
  const words = normalised(text).match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return words.filter((word) => !EMPTY_WORDS.has(word));
}

/** The same but for an ending: numbers and short words must be equal. */
function isOneWord(one: string, other: string): boolean {
  if (one === other) return true;
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  return (
    short.length >= SHARED_STEM &&
    !/\p{N}/u.test(long) &&
    long.startsWith(short) &&
    long.length - short.length <= 3
  );
}
