import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { PiiKind } from './config.ts';
import { isLuhn, PERSONAL } from './personal.ts';
import { spansIn, Turn } from './windows.ts';

const kinds = Object.keys(PERSONAL) as PiiKind[];
const find = async (text: string) =>
  (
    await spansIn(
      text,
      kinds.map((kind) => PERSONAL[kind]),
      new Turn(),
    )
  ).map(({ start, end, kind }) => [kind, text.slice(start, end)]);

describe('what is personal, and what is not', () => {
  test.each([
    ['ssn', 'it is 219-09-9999.', '219-09-9999'],
    ['ssn', '219 09 9999', '219 09 9999'],
    ['creditCard', 'visa 4111111111111111', '4111111111111111'],
    ['creditCard', '(4111-1111-1111-1111)', '4111-1111-1111-1111'],
    ['creditCard', '4111 1111 1111 1111 2027 01', '4111 1111 1111 1111'],
    ['creditCard', 'amex 3782 822463 10005', '3782 822463 10005'],
    ['bankAccount', 'to DE89 3704 0044 0532 0130 00', 'DE89 3704 0044 0532 0130 00'],
    ['medicalRecord', 'MRN: 00123456', 'MRN: 00123456'],
    ['email', 'write <jo.b+x@mail.example.co.uk>', 'jo.b+x@mail.example.co.uk'],
    ['phone', 'call (212) 555-0123', '(212) 555-0123'],
    ['phone', 'call +1 212.555.0123', '+1 212.555.0123'],
    ['phone', '+12125550123', '+12125550123'],
    ['ipv4', 'ping 203.0.113.255 now', '203.0.113.255'],
  ] as const)('%s in %s', async (kind, text, match) => {
    expect(await find(text)).toEqual([[kind, match]]);
  });

  test.each([
    ['a number that is never given out', '000-12-3456 666-12-3456 900-12-3456 219-00-9999 219-09-0000'],
    ['a wrong check digit', '4111 1111 1111 1112'],
    ['a longer number', '94111111111111111234'],
    ['a version', '1.2.3.4.5 and 1.2.3'],
    ['an octet too large', '256.1.1.1'],
    ['an at sign alone', 'see @home and a@b'],
    ['a date', '2026-11-21 20:25:00'],
    ['a wrong IBAN', 'DE89 3704 0044 0532 0130 01'],
  ])('%s', async (_, text) => {
    expect(await find(text)).toEqual([]);
  });
});

const digits = (length: number) =>
  fc.array(fc.integer({ min: 0, max: 9 }), { minLength: length, maxLength: length });

test('every card number is found, grouped or not, in any words', async () => {
  const number = digits(14).map((rest) => {
    const start = [4, ...rest];
    const last = Array.from({ length: 10 }, (_, digit) => digit).find((digit) => isLuhn([...start, digit]));
    return [...start, last].join('');
  });
  const words = fc.string().map((text) => text.replace(/[\d-]/g, '_'));
  await fc.assert(
    fc.asyncProperty(
      number,
      fc.constantFrom('', ' ', '-'),
      words,
      words,
      async (card, gap, before, after) => {
        const written = (card.match(/.{4}/g) ?? []).join(gap);
        const found = await find(`${before}|${written}|${after}`);
        expect(found.filter(([kind]) => kind === 'creditCard')).toEqual([['creditCard', written]]);
      },
    ),
    { numRuns: 300 },
  );
});

test('what is found does not depend on where in a long text it stands', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 32_700, max: 32_850 }), async (place) => {
      const text = `${'x '.repeat(place / 2)}jo@example.com 219-09-9999 ${'y '.repeat(20_000)}`;
      expect(await find(text)).toEqual([
        ['email', 'jo@example.com'],
        ['ssn', '219-09-9999'],
      ]);
    }),
    { numRuns: 60 },
  );
});

const MB = 1024 * 1024;

test.each([
  ['digits', '1'.repeat(MB)],
  ['digits and spaces', '4 '.repeat(MB / 2)],
  ['at signs', '@'.repeat(MB)],
  ['a local part without an end', 'a.'.repeat(MB / 2)],
  ['a domain without an end', `a@${'a.'.repeat(MB / 2)}`],
  ['dots and digits', '1.'.repeat(MB / 2)],
  ['brackets', '(212) '.repeat(MB / 6)],
  ['letters of an IBAN', 'DE89'.repeat(MB / 4)],
  ['the beginning of a record', 'MRN:'.repeat(MB / 4)],
])('a megabyte of %s is looked through', async (_, text) => {
  const marked = `${text} jo@example.com`;
  expect((await find(marked)).at(-1)).toEqual(['email', 'jo@example.com']);
});
