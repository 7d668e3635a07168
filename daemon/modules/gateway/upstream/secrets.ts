import type { ProviderKey } from '../../providers/index.ts';
import { UpstreamError } from './error.ts';
import { parsed } from './translate/content.ts';

const MASK = '[redacted]';
/** Shorter texts stand in answers for other reasons. */
const SHORTEST_PART = 16;
/** So much of the beginning of a key that the rest could be guessed to be one: upstreams quote keys in part. */
const BEGINNING = 12;

/** A text without the key of an attempt: whole, in the encodings of URLs and Basic authentication, its parts, and its beginning alone. */
export function withoutSecrets(text: string, key: Pick<ProviderKey, 'secret'> | undefined): string {
  if (!key || key.secret === '') return text;
  const parts = [key.secret, ...partsOf(key.secret)];
  let rest = text;
  for (const part of parts)
    for (const form of [part, encodeURIComponent(part), Buffer.from(part).toString('base64')])
      rest = rest.replaceAll(form, MASK);
  for (const part of parts)
    if (part.length >= SHORTEST_PART && !part.startsWith('{'))
      rest = rest.replace(new RegExp(`${RegExp.escape(part.slice(0, BEGINNING))}[\\w*.~+/=-]*`, 'g'), MASK);
  return rest;
}

/** The same failure, with a message and details that do not hold the key. */
export function failureWithoutSecrets(
  error: UpstreamError,
  key: Pick<ProviderKey, 'secret'> | undefined,
): UpstreamError {
  if (!key || key.secret === '') return error;
  const { code, type, param, ...rest } = error.details;
  const plain = (text: string | undefined) => text && withoutSecrets(text, key);
  return new UpstreamError(error.kind, withoutSecrets(error.message, key), {
    ...rest,
    code: plain(code),
    type: plain(type),
    param: plain(param),
  });
}

/** What of a key is secret by itself: the texts of a JSON credential, the halves of an access key. */
function partsOf(secret: string): string[] {
  const parts = secret.startsWith('{') ? textsOf(parsed(secret)) : secret.split(':');
  return parts.filter((part) => part.length >= SHORTEST_PART && part !== secret);
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return /^https?:|@/.test(value) ? [] : [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}
