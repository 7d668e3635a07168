import { Database as Sqlite } from 'bun:sqlite';
import { fail } from '../../src/errors/app-error.ts';

/** One step of the schema. Versions count up from 1 without gaps. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
}

/** Applies what is missing, each step in a transaction of its own. */
export function migrate(sqlite: Sqlite, migrations: readonly Migration[]): void {
  sqlite.run(
    'CREATE TABLE IF NOT EXISTS schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT',
  );
  const current = versionOf(sqlite);
  for (const step of migrations) if (step.version > current) apply(sqlite, step);
}

/** Refuses a database that a newer svc has written, without opening it for writing. */
export function refuseNewer(path: string, migrations: readonly Migration[]): void {
  const newest = migrations.at(-1)?.version ?? 0;
  const sqlite = new Sqlite(path, { readonly: true });
  try {
    const found = versionOf(sqlite);
    if (found > newest) {
      throw fail('failed_precondition', {
        message: `The database ${path} has schema ${found}; this svc knows ${newest}. Use the newer svc that wrote it.`,
      });
    }
  } finally {
    sqlite.close();
  }
}

function versionOf(sqlite: Sqlite): number {
  const table = sqlite.query("SELECT 1 FROM sqlite_master WHERE name = 'schema_migrations'").get();
  if (!table) return 0;
  const row = sqlite
    .query<{ version: number | null }, []>('SELECT max(version) AS version FROM schema_migrations')
    .get();
  return row?.version ?? 0;
}

function apply(sqlite: Sqlite, step: Migration): void {
  sqlite.transaction(() => {
    sqlite.run(step.sql);
    sqlite
      .query('INSERT INTO schema_migrations (version, name, applied_at) VALUES (?, ?, ?)')
      .run(step.version, step.name, Date.now());
  })();
}
