import { invalid } from '../../../../src/errors/app-error.ts';

const MOST_URL = 4_096;
const MOST_ENTRIES = 64;
const MOST_VALUE = 8_192;
/** A field name (RFC 9110, 5.1). */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/;
/** Headers that frame the message, belong to one connection, or that the protocol sets. */
const OWN_HEADERS =
  /^(host|connection|content-(length|type)|accept|accept-encoding|transfer-encoding|upgrade|keep-alive|te|trailer|expect|proxy-.*|mcp-.*|last-event-id)$/i;

/** Reads an address: http or https, without a name and password in it. Where it leads is judged at each call. Errors: invalid_argument. */
export function readUrl(text: string, field: string): string {
  const refuse = (description: string) => invalid({ field, description });
  if (text === '') throw refuse('is required');
  if (text.length > MOST_URL) throw refuse(`must be at most ${MOST_URL} characters`);
  const url = URL.parse(text);
  if (!url) throw refuse('is no URL');
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw refuse('must begin with https:// or http://');
  if (url.username !== '' || url.password !== '') throw refuse('has a name or password; use authConfig');
  if (url.hash !== '') throw refuse('has a fragment, which is never sent');
  return text;
}

/** Checks names and values of headers. Errors: invalid_argument naming the header. */
export function checkHeaders(headers: Readonly<Record<string, string>>, field: string): void {
  checkEntries(headers, field);
  for (const [name, value] of Object.entries(headers)) checkHeader(name, value, `${field}.${name}`);
}

/** Checks one header. Errors: invalid_argument naming the field. */
export function checkHeader(name: string, value: string, field: string): void {
  const refuse = (description: string) => invalid({ field, description });
  if (!TOKEN.test(name)) throw refuse('is not a name of a header');
  if (OWN_HEADERS.test(name)) throw refuse('is set by svc');
  if (/[\r\n\0]/.test(value)) throw refuse('must not hold line ends');
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
