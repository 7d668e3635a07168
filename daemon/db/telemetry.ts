import { Database as Sqlite } from 'bun:sqlite';
import { rmSync } from 'node:fs';

/** What a telemetry file holds. Another version than that of the file makes the file anew. */
export interface TelemetrySchema {
  readonly version: number;
  readonly sql: string;
}

/**
 * Opens the second database file: figures that may be lost, written in batches. A file that is missing, broken or of
 * another version is made anew, empty; it is never migrated. WAL with synchronous=NORMAL: the latest batches may be
 * lost with the power, the file stays whole.
 */
export function openTelemetry(path: string, schema: TelemetrySchema): Sqlite {
  try {
    return prepared(path, schema);
  } catch {
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
    return prepared(path, schema);
  }
}

function prepared(path: string, { version, sql }: TelemetrySchema): Sqlite {
  const sqlite = new Sqlite(path, { create: true, strict: true });
  try {
    sqlite.run('PRAGMA journal_mode = WAL');
    sqlite.run('PRAGMA synchronous = NORMAL');
    sqlite.run('PRAGMA busy_timeout = 1000');
    const found = sqlite.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version ?? 0;
    if (found === version) return sqlite;
    if (found !== 0) throw new Error(`telemetry version ${found}`);
    sqlite.transaction(() => {
      sqlite.run(sql);
      sqlite.run(`PRAGMA user_version = ${version}`);
    })();
    return sqlite;
  } catch (error) {
    sqlite.close();
    throw error;
  }
}
