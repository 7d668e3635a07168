import { invalid } from '../../../../src/errors/app-error.ts';

const MOST_URL = 4096;
const MOST_ENTRIES = 64;
const MOST_VALUE = 8192;
const HEADER = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/;
/** Headers that frame the message or belong to one connection, and those that are set here. */
const OWN_HEADERS =
  /^(host|connection|content-length|transfer-encoding|upgrade|keep-alive|te|trailer|expect|proxy-.*|accept-encoding|x-svc-.*|webhook-(id|timestamp|signature)|idempotency-key)$/i;

/** Methods that a function may use. */
export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'] as const;

/** One of them. */
export type Method = (typeof METHODS)[number];

/** Whether a request of this method has a body. */
export function hasBody(method: Method): boolean {
  return method === 'POST' || method === 'PUT' || method === 'PATCH';
}

/** Reads a method, in capitals or not. Errors: invalid_argument. */
export function readMethod(text: string, field: string): Method {
  const method = METHODS.find((one) => one === text.toUpperCase());
  if (!method) throw invalid({ field, description: `must be one of ${METHODS.join(', ')}` });
  return method;
}

/** Reads an address: http or https, without a name and password in it. Where it leads is judged at each call. Errors: invalid_argument. */
export function readUrl(text: string, field: string): string {
  const refuse = (description: string) => invalid({ field, description });
  if (text === '') throw refuse('is required');
  if (text.length > MOST_URL) throw refuse(`must be at most ${MOST_URL} characters`);
  if (!URL.canParse(text)) throw refuse('is no URL');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw refuse('must begin with https:// or http://');
  if (url.username !== '' || url.password !== '') throw refuse('has a name or password; use a header');
  if (url.hash !== '') throw refuse('has a fragment, which is never sent');
  return text;
}

/** Checks names and sizes of headers. Errors: invalid_argument naming the header. */
export function checkHeaders(headers: Readonly<Record<string, string>>, field: string): void {
  checkEntries(headers, field);
  for (const [name, value] of Object.entries(headers)) {
    const refuse = (description: string) => invalid({ field: `${field}.${name}`, description });
    if (!HEADER.test(name)) throw refuse('is not a name of a header');
    if (OWN_HEADERS.test(name)) throw refuse('is set by svc');
    if (/[\r\n\0]/.test(value)) throw refuse('must not hold line ends');
  }
}

/** Errors: invalid_argument when there are too many entries, or too long ones. */
export function checkEntries(entries: Readonly<Record<string, string>>, field: string): void {
  const all = Object.entries(entries);
  if (all.length > MOST_ENTRIES)
    throw invalid({ field, description: `has more than ${MOST_ENTRIES} entries` });
  const long = all.find(([name, value]) => name === '' || name.length > 256 || value.length > MOST_VALUE);
  if (long)
    throw invalid({
      field: `${field}.${long[0]}`,
      description: `must have a name of 1 to 256 and a value of at most ${MOST_VALUE} characters`,
    });
}
