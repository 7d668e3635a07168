import type { OutputStream } from './terminal.ts';

/** One column of a table: its title and the text of a row. */
export interface Column<Row> {
  readonly title: string;
  readonly text: (row: Row) => string | undefined;
  /** The text for programs, when it differs (a full timestamp in place of "3 m ago"). */
  readonly raw?: (row: Row) => string | undefined;
  /** Numbers stand at the right edge. */
  readonly align?: 'right';
}

const GAP = '  ';

/**
 * Rows as text: an aligned table with a heading on a terminal, tab-separated lines without one for programs.
 * No rows give no text.
 */
export function formatTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  stream: OutputStream,
  heading = true,
): string {
  if (rows.length === 0) return '';
  return stream.isTty ? formatAligned(columns, rows, stream, heading) : formatTsv(columns, rows);
}

/** Names and values below each other, the names aligned; tab-separated for programs. Absent values are left out. */
export function formatFields(
  fields: ReadonlyArray<readonly [name: string, value: string | undefined]>,
  stream: OutputStream,
): string {
  const present = fields.flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [{ name, value }],
  );
  if (!stream.isTty) return present.map(({ name, value }) => `${name}\t${oneLine(value)}\n`).join('');
  const width = Math.max(0, ...present.map(({ name }) => Bun.stringWidth(name)));
  return present
    .map(({ name, value }) => `${stream.style.dim(pad(name, width))}${GAP}${printable(value)}\n`)
    .join('');
}

/** A text without control characters: what others wrote must not steer the terminal. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  return text.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, '\uFFFD');
}

function formatTsv<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  return rows
    .map((row) => `${columns.map(({ text, raw }) => oneLine((raw ?? text)(row) ?? '')).join('\t')}\n`)
    .join('');
}

function formatAligned<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { style, columns: width }: OutputStream,
  heading: boolean,
): string {
  const cells = rows.map((row) => columns.map(({ text }) => oneLine(printable(text(row) ?? ''))));
  const widths = fit(
    columns.map(({ title }, i) =>
      Math.max(Bun.stringWidth(title), ...cells.map((line) => Bun.stringWidth(line[i] ?? ''))),
    ),
    width,
  );
  const line = (texts: readonly string[]) =>
    texts
      .map((text, i) => pad(cut(text, widths[i] ?? 0), widths[i] ?? 0, columns[i]?.align))
      .join(GAP)
      .trimEnd();
  const titles = heading ? [style.bold(line(columns.map(({ title }) => title)))] : [];
  return [...titles, ...cells.map(line), ''].join('\n');
}

/** Narrows the widest columns until the line fits; none falls below 8 unless it is narrower by itself. */
function fit(widths: readonly number[], available: number): number[] {
  const fitted = [...widths];
  let excess = fitted.reduce((sum, width) => sum + width + GAP.length, -GAP.length) - available;
  while (excess > 0) {
    const widest = fitted.indexOf(Math.max(...fitted));
    if ((fitted[widest] ?? 0) <= 8) break;
    fitted[widest] = (fitted[widest] ?? 0) - 1;
    excess--;
  }
  return fitted;
}

function cut(text: string, width: number): string {
  if (Bun.stringWidth(text) <= width) return text;
  let kept = '';
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (Bun.stringWidth(kept + segment) > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

function pad(text: string, width: number, align?: 'right'): string {
  const space = ' '.repeat(Math.max(0, width - Bun.stringWidth(text)));
  return align === 'right' ? space + text : text + space;
}

/** A text with its line ends and tabs as blanks. */
export function oneLine(text: string): string {
  return text.replace(/[\t\r\n]+/g, ' ');
}
