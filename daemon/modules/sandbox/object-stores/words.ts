import { redactText } from '../../../../src/kit/redact.ts';

const MASK = '[redacted]';
const LONGEST = 500;

/** What a program said, for people: without the secrets that it was given, each line cut to a length. */
export function shownWords(text: string, secrets: readonly string[]): string[] {
  // Longer ones first: one may be a part of another.
  const long = secrets.filter((secret) => secret.length >= 4).sort((a, b) => b.length - a.length);
  const plain = long.reduce((masked, secret) => masked.replaceAll(secret, MASK), text);
  return redactText(plain)
    .split('\n')
    .map((line) => line.replace(/^\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d /, '').trim())
    .filter((line) => line !== '')
    .map((line) => line.slice(0, LONGEST));
}

/** The last thing that a program said before it ended; a standing phrase when it said nothing. */
export function lastWords(text: string, secrets: readonly string[]): string {
  const lines = shownWords(text, secrets);
  const failure = lines.findLast((line) => /error|failed|denied|forbidden|not found|no such/i.test(line));
  return failure ?? lines.at(-1) ?? 'rclone did not say why';
}
