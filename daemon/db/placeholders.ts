import { getTableColumns, type Placeholder, sql, type Table } from 'drizzle-orm';

/** A placeholder for each column of a table, by its own name: the values of a prepared insert of whole rows. */
export function placeholders<T extends Table>(
  table: T,
): { [K in keyof T['_']['columns'] & string]: Placeholder<K> } {
  const names = Object.keys(getTableColumns(table));
  return Object.fromEntries(names.map((name) => [name, sql.placeholder(name)])) as never;
}
