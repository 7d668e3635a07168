import type { Cli } from '../cli.ts';
import { type Column, formatFields, formatTable } from './table.ts';

/** Prints a value as JSON. */
export function showJson(cli: Cli, value: unknown): void {
  cli.terminal.print(JSON.stringify(value, null, 2));
}

/** A list to show. */
export interface Listing<Row> {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** What to say on stderr when there are none. */
  readonly none: string;
  /** false leaves the heading out, where a list goes on. */
  readonly heading?: boolean;
}

/** Prints a list: a table on a terminal, tab-separated lines for programs. */
export function showList<Row>(cli: Cli, { columns, rows, none, heading }: Listing<Row>): void {
  cli.terminal.out.write(formatTable(columns, rows, cli.terminal.out, heading));
  if (rows.length === 0 && cli.terminal.err.isTty) cli.terminal.note(none);
}

/** Prints names and values. */
export function showFields(
  cli: Cli,
  fields: ReadonlyArray<readonly [name: string, value: string | undefined]>,
): void {
  cli.terminal.out.write(formatFields(fields, cli.terminal.out));
}
