/** The prefixes of all ids. An id says what it names: `sbx_01jd…`. */
export type IdPrefix =
  | 'agt'
  | 'art'
  | 'aud'
  | 'cmd'
  | 'col'
  | 'ctx'
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
  | 'pky'
  | 'prv'
  | 'pty'
  | 'req'
  | 'rev'
  | 'sbx'
  | 'ses'
  | 'snp'
  | 'spn'
  | 'ssht'
  | 'tree'
  | 'trg'
  | 'turn'
  | 'usr'
  | 'vol'
  | 'web'
  | 'wf'
  | 'whk'
  | 'chatcmpl'
  | 'resp'
  | 'msg'
  | 'rs'
  | 'fc'
  | 'fco'
  | 'ig'
  | 'item'
  | 'call';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_CHARS = 10;
/** Every pair of characters: an id takes its random part from here, ten bits at a time. */
const PAIRS = Array.from({ length: 1024 }, (_, i) => `${ALPHABET[i >> 5]}${ALPHABET[i & 31]}`);
const RANDOM_PAIRS = 8;
/** Random numbers are fetched for many ids at once: fetching costs more than what an id needs of them. */
const pool = new Uint16Array(128 * RANDOM_PAIRS);
let unused = 0;
let timeText = { ms: -1, text: '' };

/**
 * A new sortable id: the prefix, ten characters of time (Crockford base32 of the millisecond)
 * and sixteen random characters (80 bits).
 */
export function newId(prefix: IdPrefix, nowMs: number = Date.now()): string {
  if (timeText.ms !== nowMs) timeText = { ms: nowMs, text: encodeTime(nowMs) };
  return `${prefix}_${timeText.text}${randomText()}`;
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

function randomText(): string {
  if (unused === 0) {
    crypto.getRandomValues(pool);
    unused = pool.length;
  }
  let text = '';
  for (let i = 0; i < RANDOM_PAIRS; i++) text += PAIRS[(pool[--unused] ?? 0) & 1023];
  return text;
}
