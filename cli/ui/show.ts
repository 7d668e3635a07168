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
  /** Where the rows stand in a longer list, which goes on with `--offset`. */
  readonly page?: { readonly offset?: number; readonly total?: number };
}

/** Prints a list: a table on a terminal, tab-separated lines for programs. */
export function showList<Row>(cli: Cli, { columns, rows, none, heading, page }: Listing<Row>): void {
  cli.terminal.out.write(formatTable(columns, rows, cli.terminal.out, heading));
  if (!cli.terminal.err.isTty) return;
  if (rows.length === 0) cli.terminal.note(none);
  const shown = (page?.offset ?? 0) + rows.length;
  const total = page?.total ?? 0;
  if (shown < total) cli.terminal.note(`${shown} of ${total}; more with --offset ${shown}`);
}

/** Prints names and values. */
export function showFields(
  cli: Cli,
  fields: ReadonlyArray<readonly [name: string, value: string | undefined]>,
): void {
  cli.terminal.out.write(formatFields(fields, cli.terminal.out));
}
