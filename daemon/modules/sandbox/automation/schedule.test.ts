import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { AppError } from '../../../../src/errors/app-error.ts';
import { parseSchedule } from './schedule.ts';

/** The next times after a moment, as text. */
function next(expression: string, timezone: string, from: string, count: number): string[] {
  const schedule = parseSchedule(expression, timezone);
  const times: string[] = [];
  for (let at: number | undefined = Date.parse(from); times.length < count; ) {
    at = schedule.after(at);
    if (at === undefined) break;
    times.push(new Date(at).toISOString().slice(5, 16));
  }
  return times;
}

function fieldOf(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    return (error as AppError).violations?.[0]?.field ?? String(error);
  }
}

describe('an expression', () => {
  test.each([
    ['0 9 * * 1-5', ['11-23T09:00', '11-24T09:00']],
    ['*/20 8-9 * * *', ['11-22T08:00', '11-22T08:20', '11-22T08:40', '11-22T09:00']],
    ['0,30 0 1 * *', ['12-01T00:00', '12-01T00:30']],
    ['0 0 * JAN,feb mon', ['01-04T00:00', '01-11T00:00']],
    ['0 0 * * 7', ['11-22T00:00', '11-29T00:00']],
    ['0 0 13 * FRI', ['11-27T00:00', '12-04T00:00', '12-11T00:00', '12-13T00:00']],
    ['0 0 29 2 *', ['02-29T00:00']],
    ['@hourly', ['11-21T13:00', '11-21T14:00']],
    ['@DAILY', ['11-22T00:00']],
    ['@weekly', ['11-22T00:00']],
    ['  5   4 * *  * ', ['11-22T04:05']],
  ])('%s', (expression, times) => {
    expect(next(expression, 'UTC', '2026-11-21T12:00:00Z', times.length)).toEqual(times);
  });

  test.each([
    '',
    '* * * *',
    '* * * * * *',
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '* * * 13 *',
    '* * * * 8',
    '*/0 * * * *',
    '5-1 * * * *',
    '1,,2 * * * *',
    'a b c d e',
    '-5 * * * *',
    '1.5 * * * *',
    '@reboot',
    '@never',
    '2026-12-12T00:00:00',
    '0 0 30 2 *',
    '0 0 31 4,6 *',
    `${'1,'.repeat(200)}1 * * * *`,
  ])('%j is refused, with the field named', (expression) => {
    expect(fieldOf(() => parseSchedule(expression, 'UTC'))).toBe('schedule');
  });

  test('of any characters is read or refused, and never breaks the reader', () => {
    const field = fc.stringMatching(/^[0-9*,/\-A-Z?#LW]{1,8}$/);
    const expression = fc.oneof(
      fc.string(),
      fc.array(field, { minLength: 5, maxLength: 5 }).map((all) => all.join(' ')),
    );
    fc.assert(
      fc.property(expression, (text) => {
        const field = fieldOf(() => parseSchedule(text, 'UTC'));
        expect(field === undefined || field === 'schedule').toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  test('is next due strictly later, on a whole minute that its fields allow', () => {
    const minute = fc.integer({ min: 0, max: 59 });
    const hour = fc.integer({ min: 0, max: 23 });
    const from = fc.integer({
      min: Date.parse('2020-01-01T00:00:00Z'),
      max: Date.parse('2040-01-01T00:00:00Z'),
    });
    fc.assert(
      fc.property(minute, hour, from, (m, h, at) => {
        const due = parseSchedule(`${m} ${h} * * *`, 'UTC').after(at) ?? 0;
        expect(due).toBeGreaterThan(at);
        expect(due - at).toBeLessThanOrEqual(86_400_000);
        expect(new Date(due).toISOString().slice(11)).toBe(
          `${String(h).padStart(2, '0')}:${String(m).padStart(2, '0')}:00.000Z`,
        );
      }),
    );
  });
});

describe('daylight saving', () => {
  test.each([
    [
      'a time that is left out in spring: right after the gap',
      '30 2 * * *',
      'Europe/Berlin',
      '2026-03-28T12:00Z',
      ['03-29T01:00', '03-30T00:30'],
    ],
    [
      'two such times and the one after them: once',
      '0 2,3 * * *',
      'Europe/Berlin',
      '2026-03-28T12:00Z',
      ['03-29T01:00', '03-30T00:00'],
    ],
    [
      'every hour in spring: each hour that there is',
      '0 * * * *',
      'Europe/Berlin',
      '2026-03-28T23:30Z',
      ['03-29T00:00', '03-29T01:00', '03-29T02:00'],
    ],
    [
      'a time that comes twice in autumn: the first time only',
      '30 2 * * *',
      'Europe/Berlin',
      '2026-10-24T12:00Z',
      ['10-25T00:30', '10-26T01:30'],
    ],
    [
      'every hour in autumn: both of them',
      '0 * * * *',
      'Europe/Berlin',
      '2026-10-24T22:30Z',
      ['10-24T23:00', '10-25T00:00', '10-25T01:00', '10-25T02:00'],
    ],
    [
      'every quarter in autumn: all eight',
      '*/15 * * * *',
      'Europe/Berlin',
      '2026-10-24T23:50Z',
      [
        '10-25T00:00',
        '10-25T00:15',
        '10-25T00:30',
        '10-25T00:45',
        '10-25T01:00',
        '10-25T01:15',
        '10-25T01:30',
        '10-25T01:45',
        '10-25T02:00',
      ],
    ],
    [
      'the same in New York',
      '30 1 * * *',
      'America/New_York',
      '2026-10-31T12:00Z',
      ['11-01T05:30', '11-02T06:30'],
    ],
    [
      'where the change is half an hour',
      '15 2 * * *',
      'Australia/Lord_Howe',
      '2026-10-02T18:00Z',
      ['10-03T15:30', '10-04T15:15'],
    ],
    [
      'where there is none',
      '30 2 * * *',
      'Asia/Kolkata',
      '2026-03-28T12:00Z',
      ['03-28T21:00', '03-29T21:00'],
    ],
  ])('%s', (_, expression, timezone, from, times) => {
    expect(next(expression, timezone, from, times.length)).toEqual(times);
  });
});

test.each(['Mars/Olympus', '', 'Europe', 'not a zone', 'UTC+99'])(
  'the time zone %j is refused',
  (timezone) => {
    expect(fieldOf(() => parseSchedule('* * * * *', timezone))).toBe('timezone');
  },
);
