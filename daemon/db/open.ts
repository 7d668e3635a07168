import { Database as Sqlite } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import { type BunSQLiteDatabase, drizzle } from 'drizzle-orm/bun-sqlite';
import { type Migration, migrate, refuseNewer } from './migrate.ts';

/** The instance's database. Stores alone write SQL against it. */
export interface Database {
  readonly sql: BunSQLiteDatabase;
  /** The connection below drizzle, for pragmas and transactions. */
  readonly raw: Sqlite;
  /** Runs `work` in one transaction. It must not be asynchronous: an await would let it commit early. */
  transaction<T>(work: () => T): T;
  close(): void;
}

/**
 * Opens the database, makes it when it is missing and applies the migrations.
 * WAL with synchronous=FULL: what was acknowledged survives a loss of power.
 * Errors: failed_precondition when a newer svc wrote it; it is not touched then.
 */
export function openDatabase(path: string, migrations: readonly Migration[]): Database {
  if (path !== ':memory:' && existsSync(path)) refuseNewer(path, migrations);
  const raw = new Sqlite(path, { create: true, strict: true });
  raw.run('PRAGMA journal_mode = WAL');
  raw.run('PRAGMA synchronous = FULL');
  raw.run('PRAGMA foreign_keys = ON');
  raw.run('PRAGMA busy_timeout = 5000');
  migrate(raw, migrations);
  const transaction = raw.transaction((work: () => unknown) => work());
  return {
    sql: drizzle({ client: raw }),
    raw,
    transaction: <T>(work: () => T) => transaction.immediate(work) as T,
    close: () => raw.close(),
  };
}
