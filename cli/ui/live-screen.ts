import type { OutputStream } from './terminal.ts';

/** What stands below the text and is drawn anew: a line that says what goes on, and the line that is typed. */
export interface LiveLines {
  /** Styled, one line; none when undefined. */
  readonly status?: string;
  /** Before what is typed. Styled. */
  readonly prompt: string;
  readonly typed: string;
  /** In characters of `typed`. */
  readonly cursor: number;
}

/** Synchronized output: terminals that know it show all of a write at once. Others take no notice. */
const BEGIN = '\x1b[?2026h\x1b[?25l';
const END = '\x1b[?25h\x1b[?2026l';
const ERASE_LINE = '\x1b[K';
const ERASE_BELOW = '\x1b[J';
/** Rows that a line that is typed may take. */
const MOST_TYPED_ROWS = 8;

function isSame(a: LiveLines | undefined, b: LiveLines | undefined): boolean {
  if (!a || !b) return a === b;
  return a.status === b.status && a.prompt === b.prompt && a.typed === b.typed && a.cursor === b.cursor;
}

/** Rows as they were drawn, and the row of the cursor among them. */
interface Drawn {
  readonly rows: readonly string[];
  readonly cursorRow: number;
}

/**
 * Text that grows downwards, with a few live lines under it that stay at the end. What has left the live lines is never touched
 * again, so that the terminal can scroll it. Everything drawn goes out in one write.
 */
export class LiveScreen {
  private live: LiveLines | undefined;
  /** The row of text that is not full yet. */
  private open = '';
  private drawn: Drawn = { rows: [], cursorRow: 0 };

  constructor(private readonly out: OutputStream) {}

  /** Adds to the text. It is wrapped between words, and broken where a word is too long. */
  text(piece: string): void {
    const [first = '', ...more] = piece.split('\n');
    const rows: string[] = [];
    let open = this.open;
    for (const [i, part] of [first, ...more].entries()) {
      if (i > 0) {
        rows.push(open);
        open = '';
      }
      const wrapped = wrap(open + part, this.out.columns);
      open = wrapped.pop() ?? '';
      rows.push(...wrapped);
    }
    this.open = open;
    this.draw(rows);
  }

  /** Adds a line of its own, styled. A text that is open ends before it. */
  line(line: string): void {
    const rows = this.open === '' ? [] : [this.open];
    this.open = '';
    this.draw([...rows, ...line.split('\n')]);
  }

  /** Sets the live lines; undefined takes them away. */
  show(live: LiveLines | undefined): void {
    if (isSame(live, this.live)) return;
    this.live = live;
    this.draw([]);
  }

  /** Takes the live lines away and leaves the cursor at the beginning of a line. */
  close(): void {
    this.live = undefined;
    const rows = this.open === '' ? [] : [this.open];
    this.open = '';
    this.draw(rows);
  }

  private draw(finished: readonly string[]): void {
    const { rows, cursorRow, cursorColumn } = this.layOut();
    const up = this.rowsAbove();
    const head = `\r${up > 0 ? `\x1b[${up}A` : ''}`;
    const above = finished.map((row) => `${row}${ERASE_LINE}\r\n`).join('');
    const below = rows.map((row) => `${row}${ERASE_LINE}`).join('\r\n');
    const back = rows.length - 1 - cursorRow;
    const place = `\r${back > 0 ? `\x1b[${back}A` : ''}${cursorColumn > 0 ? `\x1b[${cursorColumn}C` : ''}`;
    this.out.write(`${BEGIN}${head}${above}${below}${ERASE_BELOW}${place}${END}`);
    this.drawn = { rows, cursorRow };
  }

  private layOut(): Drawn & { readonly cursorColumn: number } {
    const open = this.open === '' ? [] : [this.open];
    if (!this.live) return { rows: [...open, ''], cursorRow: open.length, cursorColumn: 0 };
    const { columns } = this.out;
    const { status, prompt, typed, cursor } = this.live;
    const before = hardWrap(`${prompt}${typed.slice(0, cursor)}`, columns);
    const all = hardWrap(`${prompt}${typed} `, columns);
    const top = [...open, ...(status === undefined ? [] : [Bun.sliceAnsi(status, 0, columns - 1, '…')])];
    const from = Math.max(before.length - MOST_TYPED_ROWS, 0);
    const last = before.at(-1) ?? '';
    const isFull = Bun.stringWidth(last) >= columns;
    return {
      rows: [...top, ...all.slice(from, from + MOST_TYPED_ROWS)],
      cursorRow: top.length + before.length - 1 - from + (isFull ? 1 : 0),
      cursorColumn: isFull ? 0 : Bun.stringWidth(last),
    };
  }

  /** Rows from the first live row down to the cursor: a terminal that was made narrower has wrapped them. */
  private rowsAbove(): number {
    const { rows, cursorRow } = this.drawn;
    const { columns } = this.out;
    return rows
      .slice(0, cursorRow)
      .reduce((sum, row) => sum + Math.max(Math.ceil(Bun.stringWidth(row) / columns), 1), 0);
  }
}

/** A line in rows, between words where that can be. */
export function wrap(line: string, columns: number): string[] {
  if (Bun.stringWidth(line) <= columns) return [line];
  return Bun.wrapAnsi(line, columns, { hard: true, trim: false })
    .split('\n')
    .map((row, i, rows) => (i < rows.length - 1 ? row.trimEnd() : row));
}

function hardWrap(line: string, columns: number): string[] {
  return Bun.wrapAnsi(line, columns, { hard: true, trim: false, wordWrap: false }).split('\n');
}
