import { invalid } from '../../../../src/errors/app-error.ts';
import { maskKey } from '../../../../src/kit/redact.ts';

const MASK = '****';
/** Headers whose values are no secrets. */
const OPEN_HEADERS = /^(accept|accept-language|cache-control|content-type|prefer|user-agent)$/i;

/** Which of some named values are secrets. */
export type IsSecret = (name: string) => boolean;

/** Whether secrets that were stored before, and not sent now, are used again. */
export interface Kept {
  readonly keepsSecrets: boolean;
}

/** A header's value is taken for a secret unless its name says otherwise. */
export const secretHeader: IsSecret = (name) => !OPEN_HEADERS.test(name);

/** Values as they are shown: secrets as masks. */
export function hide(values: Readonly<Record<string, string>>, isSecret: IsSecret): Record<string, string> {
  const shown = Object.entries(values).map(
    ([name, value]) => [name, isSecret(name) && value !== '' ? maskKey(value) : value] as const,
  );
  return Object.fromEntries(shown);
}

/** Puts stored secrets in the place of their masks; nothing sent is all that is stored. Errors: invalid_argument naming a mask of nothing. */
export function reveal(
  sent: Readonly<Record<string, string>> | undefined,
  stored: Readonly<Record<string, string>>,
  isSecret: IsSecret,
  field: string,
): Kept & { readonly values: Readonly<Record<string, string>> } {
  let keepsSecrets = false;
  const values = Object.entries(sent ?? stored).map(([name, value]) => {
    const old = Object.hasOwn(stored, name) ? stored[name] : undefined;
    const isKept =
      old !== undefined && old !== '' && isSecret(name) && (sent === undefined || maskKey(old) === value);
    if (!isKept && sent !== undefined && isSecret(name) && value.startsWith(MASK))
      throw invalid({ field: `${field}.${name}`, description: 'is a mask; send the value itself' });
    keepsSecrets ||= isKept;
    return [name, isKept ? old : value] as const;
  });
  return { values: Object.fromEntries(values), keepsSecrets };
}
