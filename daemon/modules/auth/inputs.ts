import { invalid } from '../../../src/errors/app-error.ts';

/** Shortest password, in characters (NIST SP 800-63B). */
const MIN_PASSWORD = 8;
/** Longest password that is hashed, in characters. */
export const MAX_PASSWORD = 1_024;
const MAX_EMAIL = 254;
const MAX_NAME = 200;

/** An email address in the form that is stored: trimmed, lower case. Errors: invalid_argument. */
export function readEmail(text: string | undefined): string {
  const email = normalizeEmail(text);
  if (email.length > MAX_EMAIL || !/^[^\s@<>"(),:;\\[\]]+@[^\s@<>"(),:;\\[\]]+$/.test(email))
    throw invalid({ field: 'email', description: 'must be an email address' });
  return email;
}

/** Text to look an address up by. It need not be one, but it is never longer than one by much. */
export function normalizeEmail(text: string | undefined): string {
  return (text ?? '')
    .trim()
    .toLowerCase()
    .slice(0, MAX_EMAIL + 1);
}

/** A new password. Errors: invalid_argument when it is too short or too long. */
export function readPassword(text: string | undefined): string {
  const password = text ?? '';
  if (password.length < MIN_PASSWORD || password.length > MAX_PASSWORD) {
    const description = `must have ${MIN_PASSWORD} to ${MAX_PASSWORD} characters`;
    throw invalid({ field: 'password', description });
  }
  return password;
}

/** A display name on one line; `fallback` when it is empty. Errors: invalid_argument. */
export function readName(text: string | undefined, fallback: string): string {
  const name = (text ?? '').trim();
  if (name.length > MAX_NAME || /\p{Cc}/u.test(name))
    throw invalid({ field: 'name', description: `must be one line of at most ${MAX_NAME} characters` });
  return name || fallback;
}

/** Text that must be there. Errors: invalid_argument naming the field. */
export function readRequired(field: string, text: string | undefined): string {
  if (!text) throw invalid({ field, description: 'is required' });
  return text;
}
