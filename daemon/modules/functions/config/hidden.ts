import { invalid } from '../../../../src/errors/app-error.ts';
import { maskKey } from '../../../../src/kit/redact.ts';

const MASK = '****';
/** Headers whose values are no secrets. */
const OPEN_HEADERS = new Set([
  'accept',
  'accept-language',
  'cache-control',
  'content-type',
  'prefer',
  'user-agent',
]);
const SECRET_NAME = /key|token|secret|passw|auth|credential|signature|^sig$|^code$|appid/i;

/** Which of some named values are secrets. */
export type IsSecret = (name: string, value: string) => boolean;

/** A header's value is taken for a secret unless its name says otherwise, or it comes out of the arguments. */
export const secretHeader: IsSecret = (name, value) =>
  value !== '' && !OPEN_HEADERS.has(name.toLowerCase()) && !isFromArguments(value);

/** A parameter of a query is taken for a secret when its name says so. */
export const secretParameter: IsSecret = (name, value) =>
  value !== '' && SECRET_NAME.test(name) && !isFromArguments(value);

/** Values as they are shown: secrets as masks. */
export function hide(values: Readonly<Record<string, string>>, isSecret: IsSecret): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, isSecret(name, value) ? maskKey(value) : value]),
  );
}

/** Values where masks that were shown are the secrets again. */
export interface Revealed {
  readonly values: Readonly<Record<string, string>>;
  /** Some of the values are secrets that were stored before, and not sent now. */
  readonly keepsSecrets: boolean;
}

/** Puts stored secrets in the place of their masks. Errors: invalid_argument naming a mask of nothing. */
export function reveal(
  sent: Readonly<Record<string, string>> | undefined,
  stored: Readonly<Record<string, string>>,
  isSecret: IsSecret,
  field: string,
): Revealed {
  let keepsSecrets = false;
  const values = Object.entries(sent ?? stored).map(([name, value]) => {
    const old = Object.hasOwn(stored, name) ? stored[name] : undefined;
    const isKept = old !== undefined && isSecret(name, old) && (sent === undefined || maskKey(old) === value);
    if (!isKept && value.startsWith(MASK))
      throw invalid({ field: `${field}.${name}`, description: 'is a mask; send the value itself' });
    keepsSecrets ||= isKept;
    return [name, isKept && old !== undefined ? old : value];
  });
  return { values: Object.fromEntries(values), keepsSecrets };
}

/** A URL as it is shown: the values of its query as masks. */
export function hideUrl(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  if (url.search === '') return text;
  const shown = [...url.searchParams].map(([name, value]) => `${encodeURIComponent(name)}=${maskKey(value)}`);
  return `${text.slice(0, text.indexOf('?'))}?${shown.join('&')}`;
}

/** Errors: invalid_argument: nobody may have stored secrets sent to another server than they were given for. */
export function refuseMoved(before: string | undefined, after: string, keepsSecrets: boolean, field: string) {
  if (before === undefined || !keepsSecrets || new URL(before).origin === new URL(after).origin) return;
  throw invalid({ field, description: 'is another server; send the secrets that go there with it' });
}

function isFromArguments(value: string): boolean {
  return /^\$[.[]/.test(value) || /^\{[^{}]+\}$/.test(value);
}
