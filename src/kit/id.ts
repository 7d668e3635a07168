/** The prefixes of all ids. An id says what it names: `sbx_01jd…`. */
export type IdPrefix =
  | 'agt'
  | 'aud'
  | 'cmd'
  | 'del'
  | 'dep'
  | 'evt'
  | 'exe'
  | 'fn'
  | 'inv'
  | 'job'
  | 'key'
  | 'mag'
  | 'mcp'
  | 'mem'
  | 'org'
  | 'prv'
  | 'pty'
  | 'req'
  | 'sbx'
  | 'ses'
  | 'snp'
  | 'ssht'
  | 'trg'
  | 'turn'
  | 'usr'
  | 'vol'
  | 'web'
  | 'wf'
  | 'whk'
  | 'chatcmpl';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_CHARS = 10;
const RANDOM_BYTES = 16;

/**
 * A new sortable id: the prefix, ten characters of time (Crockford base32 of the millisecond)
 * and sixteen random characters (80 bits).
 */
export function newId(prefix: IdPrefix, nowMs: number = Date.now()): string {
  return `${prefix}_${encodeTime(nowMs)}${encodeRandom()}`;
}

/** Whether a text has the form of an id with this prefix. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && /^[0-9a-hjkmnp-tv-z]{26}$/.test(text.slice(prefix.length + 1));
}

/** A secret of 256 random bits in base64url, for tokens and keys. */
export function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

function encodeTime(ms: number): string {
  let rest = ms;
  let text = '';
  for (let i = 0; i < TIME_CHARS; i++) {
    text = ALPHABET[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

function encodeRandom(): string {
  let text = '';
  for (const byte of crypto.getRandomValues(new Uint8Array(RANDOM_BYTES))) text += ALPHABET[byte % 32];
  return text;
}
