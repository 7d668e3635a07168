import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Reach, reachOf } from './address.ts';

const CASES: ReadonlyArray<readonly [Reach, readonly string[]]> = [
  [
    'public',
    ['1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255'],
  ],
  [
    'public',
    ['128.0.0.0', '169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '192.167.255.255'],
  ],
  [
    'public',
    ['192.169.0.0', '198.17.255.255', '198.20.0.0', '223.255.255.255', '2606:4700::1', '2a00:1450:4001::8'],
  ],
  ['public', ['::ffff:8.8.8.8', '::ffff:808:808']],
  [
    'private',
    ['0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '100.64.0.0', '100.127.255.255', '127.0.0.1'],
  ],
  ['private', ['127.255.255.255', '172.16.0.0', '172.31.255.255', '192.0.0.1', '192.0.2.1', '192.88.99.1']],
  ['private', ['192.168.0.1', '198.18.0.0', '198.19.255.255', '198.51.100.1', '203.0.113.1', '224.0.0.1']],
  [
    'private',
    ['239.255.255.255', '240.0.0.1', '255.255.255.255', '::', '::1', '::ffff:127.0.0.1', '::ffff:a00:1'],
  ],
  [
    'private',
    ['::10.0.0.1', '::8.8.8.8', '64:ff9b::8.8.8.8', '64:ff9b:1::1', '100::1', '2001::1', '2001:2::1'],
  ],
  ['private', ['2001:db8::1', '2002:a00:1::', '2002:808:808::', '3fff::1', '4000::1', '5f00::1', 'fc00::1']],
  [
    'private',
    ['fd00::1', 'fdff:ffff::1', 'fec0::1', 'ff02::1', '2600:1::5efe:a00:1', '2600:1::200:5efe:808:808'],
  ],
  ['forbidden', ['169.254.0.0', '169.254.169.254', '169.254.255.255', 'fe80::1', 'febf::1', 'fd00:ec2::254']],
  [
    'forbidden',
    ['::ffff:169.254.169.254', '::ffff:a9fe:a9fe', '::169.254.169.254', '::ffff:0:169.254.169.254'],
  ],
  [
    'forbidden',
    ['64:ff9b::169.254.169.254', '64:ff9b:1::a9fe:a9fe', '2002:a9fe:a9fe::1', '2001:0:a9fe:a9fe::1'],
  ],
  [
    'forbidden',
    ['2001:0:808:808:0:0:5601:5601', '2600:1::5efe:a9fe:a9fe', '100.100.100.200', '168.63.129.16'],
  ],
  [
    'forbidden',
    ['192.0.0.192', 'fd20:ce::254', 'fe80::1%eth0', '::1%lo', 'localhost', '', '1.2.3', '010.0.0.1'],
  ],
];

describe('the reach of an address', () => {
  for (const [reach, addresses] of CASES)
    for (const address of addresses)
      test(`${address || '(nothing)'} is ${reach}`, () => expect(reachOf(address)).toBe(reach));

  const octet = fc.integer({ min: 0, max: 255 });
  const v4 = fc.tuple(octet, octet, octet, octet);
  const hex = (high: number, low: number) => ((high << 8) | low).toString(16);

  test('of a mapped IPv4 address is that of the IPv4 address', () => {
    fc.assert(
      fc.property(v4, ([a, b, c, d]) => {
        expect(reachOf(`::ffff:${hex(a, b)}:${hex(c, d)}`)).toBe(reachOf(`${a}.${b}.${c}.${d}`));
      }),
      { numRuns: 5000 },
    );
  });

  test('is never public for an IPv4 address inside a private block, by plain arithmetic', () => {
    fc.assert(
      fc.property(v4, ([a, b, c, d]) => {
        const special =
          a === 0 ||
          a === 10 ||
          a === 127 ||
          a >= 224 ||
          (a === 100 && b >= 64 && b < 128) ||
          (a === 172 && b >= 16 && b < 32) ||
          (a === 192 && b === 168) ||
          (a === 169 && b === 254) ||
          (a === 198 && (b === 18 || b === 19));
        if (special) expect(reachOf(`${a}.${b}.${c}.${d}`)).not.toBe('public');
      }),
      { numRuns: 20_000 },
    );
  });

  test('is never public outside 2000::/3, and never public through a translator or tunnel', () => {
    const group = fc.integer({ min: 0, max: 0xffff }).map((value) => value.toString(16));
    const tail = fc.array(group, { minLength: 7, maxLength: 7 });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffff }), tail, (first, rest) => {
        const outside = first < 0x2000 || first > 0x3fff || first === 0x2002;
        if (outside) expect(reachOf([first.toString(16), ...rest].join(':'))).not.toBe('public');
      }),
      { numRuns: 10_000 },
    );
  });

  test('answers for any text without throwing', () => {
    fc.assert(fc.property(fc.string(), (text) => ['public', 'private', 'forbidden'].includes(reachOf(text))));
  });
});
