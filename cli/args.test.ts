import { describe, expect, test } from 'bun:test';
import { InvalidArgumentError } from 'commander';
import { duration, integer, pairs, port, positive, word } from './args.ts';

describe('option values', () => {
  const good: Array<[name: string, read: (text: string) => unknown, text: string, value: unknown]> = [
    ['integer', integer(1), '12', 12],
    ['positive', positive, '0.5', 0.5],
    ['port', port, '0', 0],
    ['duration in units', duration, '1h30m', 5_400_000],
    ['duration in seconds', duration, '90', 90_000],
    ['duration without end', duration, '0', 0],
    ['pair', pairs, 'A=b=c', { A: 'b=c' }],
    ['pair without a value', pairs, 'A=', { A: '' }],
    ['word', word('allow', 'deny'), 'deny', 'deny'],
  ];
  test.each(good)('%s takes %p', (_, read, text, value) => {
    expect(read(text)).toEqual(value);
  });

  const bad: Array<[name: string, read: (text: string) => unknown, text: string]> = [
    ['integer', integer(1), '0'],
    ['integer', integer(1), '1.5'],
    ['integer', integer(1), '-3'],
    ['integer', integer(1), '1e9'],
    ['integer', integer(1), '99999999999999999999'],
    ['positive', positive, '0'],
    ['positive', positive, '-1'],
    ['port', port, '65536'],
    ['duration', duration, 'soon'],
    ['duration', duration, '5 parsecs'],
    ['pair', pairs, 'A'],
    ['pair', pairs, '=b'],
    ['word', word('allow', 'deny'), 'Deny'],
  ];
  test.each(bad)('%s refuses %p', (_, read, text) => {
    expect(() => read(text)).toThrow(InvalidArgumentError);
  });

  test('repeated pairs are kept together', () => {
    expect(pairs('B=2', pairs('A=1'))).toEqual({ A: '1', B: '2' });
  });
});
