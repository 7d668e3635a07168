import { describe, expect, test } from 'bun:test';
import { recordedTerminal } from '../testing/terminal.ts';
import { type Column, formatFields, formatTable, printable } from './table.ts';

interface Row {
  readonly name: string;
  readonly size?: string;
}

const columns: readonly Column<Row>[] = [
  { title: 'NAME', text: ({ name }) => name },
  { title: 'SIZE', text: ({ size }) => size, raw: ({ size }) => size && `${size} bytes`, align: 'right' },
];
const rows: readonly Row[] = [{ name: 'box', size: '12' }, { name: '箱子' }, { name: 'a\tb\nc', size: '7' }];

describe('on a terminal', () => {
  test('columns stand below each other, wide characters counted as two', () => {
    const text = formatTable(columns, rows, recordedTerminal(true).out);
    expect(text).toBe(['NAME   SIZE', 'box      12', '箱子', 'a b c     7', ''].join('\n'));
  });

  test('the widest column gives way when the line is too long', () => {
    const long = [{ name: 'x'.repeat(60), size: '1' }];
    const [, line = ''] = formatTable(columns, long, recordedTerminal(true, 30).out).split('\n');
    expect(Bun.stringWidth(line)).toBe(30);
    expect(line).toMatch(/^x{23}… {5}1$/);
  });

  test('a list that goes on has no second heading', () => {
    expect(formatTable(columns, [{ name: 'box' }], recordedTerminal(true).out, false)).toBe('box\n');
  });

  test('control characters of others do not reach the terminal', () => {
    const text = formatTable(columns, [{ name: '\x1b[31mred\x1b[0m' }], recordedTerminal(true).out);
    expect(text).not.toContain('\x1b');
    expect(text).toContain('red');
  });
});

describe('for programs', () => {
  test('a row is a line of tab-separated values, without a heading', () => {
    expect(formatTable(columns, rows, recordedTerminal().out)).toBe(
      'box\t12 bytes\n箱子\t\na b c\t7 bytes\n',
    );
  });

  test('no rows are no text', () => {
    expect(formatTable(columns, [], recordedTerminal().out)).toBe('');
  });
});

test('fields leave absent values out', () => {
  const fields = [
    ['id', 'sbx_1'],
    ['long name', 'x'],
    ['none', undefined],
    ['empty', ''],
  ] as const;
  expect(formatFields(fields, recordedTerminal(true).out)).toBe('id         sbx_1\nlong name  x\n');
  expect(formatFields(fields, recordedTerminal().out)).toBe('id\tsbx_1\nlong name\tx\n');
});

test('printable keeps letters, tabs and line ends', () => {
  expect(printable('é\t\n\x07\x1b]0;x\x9b')).toBe('é\t\n\uFFFD\uFFFD]0;x\uFFFD');
});
