import type { PiiKind } from './config.ts';
import { type Finder, pattern, type Span } from './windows.ts';

/** Longest local part of an address (RFC 5321, 4.5.3.1.1), and longest domain. */
const LOCAL = 64;
const DOMAIN = 253;

/** What personal data looks like, by kind. Where kinds overlap, the earlier one has it. */
export const PERSONAL: Readonly<Record<PiiKind, Finder>> = {
  creditCard: findCards,
  ssn: pattern('ssn', /(?<![\d-])\d{3}([- ])\d{2}\1\d{4}(?![\d-])/g, isSsn),
  bankAccount: pattern(
    'bankAccount',
    /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}(?![A-Za-z0-9])/g,
    isIban,
  ),
  medicalRecord: pattern(
    'medicalRecord',
    /\b(?:MRN|medical record (?:number|no\.?))[:# ]{1,4}[A-Z]{0,3}\d{5,12}\b/gi,
  ),
  email: findEmails,
  phone: pattern(
    'phone',
    /(?<![\d(+-])(?:\+?1[ .-]?)?(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[ .-])[2-9]\d{2}[ .-]\d{4}(?!\d)|\+1[2-9]\d{2}[2-9]\d{6}(?!\d)/g,
  ),
  ipv4: pattern('ipv4', /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?!\d|\.\d)/g, isIpv4),
};

/** Area 000, 666 and 9xx, group 00 and serial 0000 are never given out (SSA, POMS RM 10201.035). */
function isSsn(text: string): boolean {
  const [area = '', group = '', serial = ''] = text.split(/[- ]/);
  return area !== '000' && area !== '666' && area < '900' && group !== '00' && serial !== '0000';
}

function isIpv4(text: string): boolean {
  return text.split('.').every((part) => Number(part) <= 255);
}

/** The check of ISO 13616: the first four characters moved to the end, letters as numbers, modulo 97 is 1. */
function isIban(text: string): boolean {
  const plain = text.replaceAll(' ', '');
  if (plain.length < 15 || plain.length > 34) return false;
  let rest = 0;
  for (const letter of plain.slice(4) + plain.slice(0, 4)) {
    const value = Number.parseInt(letter, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

const DIGIT_RUN = /(?<!\d)\d(?:[ -]?\d){12,200}/g;

/** Numbers of 13 to 19 digits, single spaces and hyphens among them, that a card may have (ISO/IEC 7812) and whose check digit is right. */
function* findCards(piece: string): Generator<Span> {
  for (const run of piece.matchAll(DIGIT_RUN)) {
    const places = [...run[0].matchAll(/\d/g)].map(({ index }) => index);
    const digits = places.map((place) => run[0].charCodeAt(place) - 48);
    for (let first = 0; first + 13 <= digits.length; first++) {
      if (isInside(places, first)) continue;
      const length = cardLength(digits, first, (end) => !isInside(places, end));
      if (length === 0) continue;
      const last = (places[first + length - 1] ?? 0) + 1;
      yield { start: run.index + (places[first] ?? 0), end: run.index + last, kind: 'creditCard' };
      first += length - 1;
    }
  }
}

/** Whether a digit stands directly behind another one. */
function isInside(places: readonly number[], at: number): boolean {
  return at > 0 && at < places.length && (places[at] ?? 0) === (places[at - 1] ?? 0) + 1;
}

function cardLength(digits: readonly number[], first: number, endsAt: (place: number) => boolean): number {
  const [a = 0, b = 0] = [digits[first], digits[first + 1]];
  const lengths = lengthsOf(a, b);
  return (
    lengths.find(
      (length) =>
        first + length <= digits.length &&
        endsAt(first + length) &&
        isLuhn(digits.slice(first, first + length)),
    ) ?? 0
  );
}

/** How long the numbers of an issuer are, by the first two digits. */
function lengthsOf(first: number, second: number): readonly number[] {
  if (first === 4) return [16, 19, 13];
  if (first === 5 || first === 2) return [16];
  if (first === 6) return [16, 19, 18, 17];
  if (first !== 3) return [];
  return second === 4 || second === 7 ? [15] : [16, 14];
}

/** The check of ISO/IEC 7812-1, annex B. */
export function isLuhn(digits: readonly number[]): boolean {
  let sum = 0;
  for (let place = 0; place < digits.length; place++) {
    const digit = digits[digits.length - 1 - place] ?? 0;
    const doubled = place % 2 === 0 ? digit : digit * 2;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0 && digits.some((digit) => digit !== 0);
}

const LOCAL_PART = /[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]/;
const BEHIND_AT = /(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,8}[A-Za-z][A-Za-z0-9-]{1,62}/y;

/** Addresses are found from their @, so that a long text without one costs nothing. */
function* findEmails(piece: string): Generator<Span> {
  let from = 0;
  for (let at = piece.indexOf('@'); at >= 0; at = piece.indexOf('@', at + 1)) {
    let start = at;
    while (start > from && at - start < LOCAL && LOCAL_PART.test(piece[start - 1] ?? '')) start--;
    BEHIND_AT.lastIndex = at + 1;
    const domain = start < at ? BEHIND_AT.exec(piece)?.[0] : undefined;
    if (!domain || domain.length > DOMAIN) continue;
    from = at + 1 + domain.length;
    yield { start, end: from, kind: 'email' };
  }
}
