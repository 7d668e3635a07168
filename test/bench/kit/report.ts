/** What a figure should be. */
export interface Goal {
  /** As it is printed: `<= 90 ms`. */
  readonly text: string;
  readonly isMet: boolean;
}

/** One line of a table. */
export interface Line {
  readonly what: string;
  readonly cells: readonly string[];
  readonly goals?: readonly Goal[];
}

/** Figures of one benchmark. */
export interface Table {
  readonly title: string;
  /** The heads of the cells; the first column is what was measured, the last its goals. */
  readonly columns: readonly string[];
  readonly lines: readonly Line[];
  /** Said below the table. */
  readonly notes?: readonly string[];
}

const CELL = 10;

/** The goal of a figure that should be small. */
export function atMost(value: number, limit: number, unit: string): Goal {
  return { text: `<= ${limit} ${unit}`, isMet: value <= limit };
}

/** The goal of a figure that should be large. */
export function atLeast(value: number, limit: number, unit: string): Goal {
  return { text: `>= ${limit} ${unit}`, isMet: value >= limit };
}

/** Prints tables as they come and counts what was met. A goal that is missed is no failure. */
export class Report {
  private met = 0;
  private readonly missed: string[] = [];

  /** Runs a benchmark as a program. */
  static async of(benchmark: (report: Report) => Promise<void>): Promise<void> {
    const report = new Report();
    await benchmark(report);
    report.close();
  }

  table({ title, columns, lines, notes = [] }: Table): void {
    const width = Math.max(...lines.map(({ what }) => what.length), title.length) + 2;
    const heads = columns.map((head) => head.padStart(CELL)).join('');
    console.log(`\n${title.padEnd(width)}${heads}`);
    for (const { what, cells, goals = [] } of lines) {
      const row = cells.map((cell) => cell.padStart(CELL)).join('');
      console.log(`${what.padEnd(width)}${row}  ${goals.map(shown).join(', ')}`.trimEnd());
      for (const goal of goals) this.count(`${title}: ${what}`, goal);
    }
    for (const note of notes) console.log(`  ${note}`);
  }

  /** The last lines: how many goals were met, and which were not. */
  close(): void {
    console.log(`\n${this.met} goals met, ${this.missed.length} missed`);
    for (const line of this.missed) console.log(`  MISSED  ${line}`);
  }

  private count(what: string, goal: Goal): void {
    if (goal.isMet) this.met++;
    else this.missed.push(`${what} ${goal.text}`);
  }
}

/** A number with the digits that mean something. */
export function digits(value: number): string {
  if (!Number.isFinite(value)) return '-';
  const places = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toFixed(places);
}

function shown({ text, isMet }: Goal): string {
  return `${text} ${isMet ? 'ok' : 'MISSED'}`;
}
