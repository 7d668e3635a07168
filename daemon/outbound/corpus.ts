/** Addresses that no tenant may reach: the edges and the middle of every special range of IPv4. */
export const INNER_V4 = [
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '10.255.255.255',
  '100.64.0.1',
  '100.127.255.254',
  '100.100.100.200',
  '127.0.0.1',
  '127.255.255.254',
  '168.63.129.16',
  '169.254.0.1',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.254',
  '192.0.0.1',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.0.1',
  '192.168.255.254',
  '198.18.0.1',
  '198.51.100.7',
  '203.0.113.9',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
] as const;

/** Addresses of IPv6 that no tenant may reach. */
export const INNER_V6 = [
  '::',
  '::1',
  'fc00::1',
  'fd00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fec0::1',
  'ff02::1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2001:10::1',
  '2001:20::1',
  '2002:7f00:1::',
  '3fff::1',
  '4000::1',
  '64:ff9b::1',
  '64:ff9b:1::1',
] as const;

type Octets = readonly [number, number, number, number];

const WIDE = '０１２３４５６７８９';
const CIRCLED = '⓪①②③④⑤⑥⑦⑧⑨';
const digitsFrom = (alphabet: string, text: string) =>
  text.replace(/\d/g, (digit) => [...alphabet][Number(digit)] ?? digit);
const number = ([a, b, c, d]: Octets) => ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
const groups = ([a, b, c, d]: Octets) => `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
const percent = (text: string) =>
  [...text].map((char) => `%${char.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');

/** Ways to write one IPv4 address in a URL that lead, or might lead, some program to it. */
const SPELLINGS: Readonly<Record<string, (octets: Octets) => string>> = {
  dotted: (o) => o.join('.'),
  'with a dot at its end': (o) => `${o.join('.')}.`,
  'as one decimal': (o) => String(number(o)),
  'as one hexadecimal': (o) => `0x${number(o).toString(16)}`,
  'as one octal': (o) => `0${number(o).toString(8)}`,
  'with octal octets': (o) => o.map((octet) => `0${octet.toString(8)}`).join('.'),
  'with padded octal octets': (o) => o.map((octet) => octet.toString(8).padStart(6, '0')).join('.'),
  'with hexadecimal octets': (o) => o.map((octet) => `0X${octet.toString(16)}`).join('.'),
  'with mixed octets': ([a, b, c, d]) => `0x${a.toString(16)}.${b}.0${c.toString(8)}.${d}`,
  'in two parts': ([a, b, c, d]) => `${a}.${(b << 16) | (c << 8) | d}`,
  'in three parts': ([a, b, c, d]) => `${a}.${b}.${(c << 8) | d}`,
  'in full-width digits': (o) => digitsFrom(WIDE, o.join('.')),
  'in circled digits': (o) => digitsFrom(CIRCLED, o.join('.')),
  'with ideographic dots': (o) => o.join('。'),
  'percent-encoded': (o) => percent(o.join('.')),
  'mapped, dotted': (o) => `[::ffff:${o.join('.')}]`,
  'mapped, hexadecimal': (o) => `[::ffff:${groups(o)}]`,
  'mapped, written out': (o) => `[0000:0000:0000:0000:0000:FFFF:${groups(o)}]`,
  'IPv4-compatible': (o) => `[::${o.join('.')}]`,
  'translated (RFC 6145)': (o) => `[::ffff:0:${groups(o)}]`,
  'through NAT64': (o) => `[64:ff9b::${o.join('.')}]`,
  'through local NAT64': (o) => `[64:ff9b:1::${groups(o)}]`,
  'through 6to4': (o) => `[2002:${groups(o)}::1]`,
  'through Teredo': (o) => `[2001:0:${groups(o)}::1]`,
  'through ISATAP': (o) => `[2600:1::5efe:${groups(o)}]`,
};

/** A host as it stands in a URL, and what it is. */
export interface Spelled {
  readonly host: string;
  readonly what: string;
}

/** Every spelling of an IPv4 address. */
export function spellingsOf(address: string): Spelled[] {
  const octets = address.split('.').map(Number) as unknown as Octets;
  return Object.entries(SPELLINGS).map(([name, spell]) => ({
    host: spell(octets),
    what: `${address} ${name}`,
  }));
}

/** Addresses that are refused for what they are, whoever asks and wherever they lead. */
export const BAD_URLS = [
  '',
  'x',
  '//127.0.0.1/',
  '/etc/passwd',
  'http://',
  'http://?x',
  'http://.',
  'http://..',
  'http://a..b/',
  'http://localhost../',
  'http://127.0.0.1%00.example.com/',
  'http://[::1',
  'http://[fe80::1%25eth0]/',
  'http://256.256.256.256/',
  'http://1.2.3.4.5/',
  'http://example.com:99999/',
  'http://example.com:0/',
  'http://user@example.com/',
  'http://user:pass@example.com/',
  'http://:pass@example.com/',
  'http://example.com@127.0.0.1/',
  'http://exa mple.com/',
  'file:///etc/passwd',
  'ftp://example.com/',
  'gopher://127.0.0.1:6379/_INFO',
  'dict://127.0.0.1:11211/stat',
  'ldap://127.0.0.1/',
  'tftp://127.0.0.1/x',
  'data:text/plain,hi',
  'javascript:alert(1)',
  'blob:http://x/1',
  'ws://example.com/',
  'wss://example.com/',
  'unix:/var/run/docker.sock',
  'about:blank',
  'jar:http://x!/',
] as const;
