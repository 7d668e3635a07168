/** What a terminal shows, and where its cursor is. */
export interface Shown {
  /** Without the blanks at their ends. */
  readonly rows: readonly string[];
  readonly row: number;
  readonly column: number;
}

/** What a terminal of some columns and endless rows shows after it was sent this (of ECMA-48 what programs here send). */
export function shownBy(sent: string, columns: number): Shown {
  const cells: string[][] = [[]];
  let [row, column] = [0, 0];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: sequences begin with one
  for (const [, count, kind, text] of sent.matchAll(/\x1b\[\??(\d*)([A-Za-z])|([^\x1b])/gs)) {
    const times = Number(count || 1);
    if (text === '\r') column = 0;
    else if (text === '\n') row++;
    else if (text !== undefined) {
      if (column === columns) [row, column] = [row + 1, 0];
      cells[row] ??= [];
      (cells[row] as string[])[column++] = text;
    } else if (kind === 'A') row = Math.max(row - times, 0);
    else if (kind === 'C') column = Math.min(column + times, columns - 1);
    else if (kind === 'K') cells[row]?.splice(Math.min(column, columns));
    else if (kind === 'J') {
      cells[row]?.splice(column);
      cells.splice(row + 1);
    }
    cells[row] ??= [];
  }
  const rows = Array.from(cells, (line = []) =>
    Array.from(line, (cell) => cell ?? ' ')
      .join('')
      .trimEnd(),
  );
  return { rows, row, column };
}
