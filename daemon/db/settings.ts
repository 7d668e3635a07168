import { Database as Sqlite } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import type { Database } from './open.ts';

/** The settings table: values by key, as JSON. */
export class SettingStore {
  constructor(private readonly db: Database) {}

  all(): Record<string, unknown> {
    const rows = this.db.raw
      .query<{ key: string; value: string }, []>('SELECT key, value FROM settings')
      .all();
    return Object.fromEntries(rows.map(({ key, value }) => [key, JSON.parse(value)]));
  }

  get(key: string): unknown {
    const row = this.db.raw
      .query<{ value: string }, [string]>('SELECT value FROM settings WHERE key = ?')
      .get(key);
    return row ? JSON.parse(row.value) : undefined;
  }

  set(key: string, value: unknown, now: number): void {
    this.db.raw
      .query('INSERT OR REPLACE INTO settings (key, value, updated_at) VALUES (?, ?, ?)')
      .run(key, JSON.stringify(value), now);
  }
}

/** The settings in a database that a daemon may have open; none when there is no such file. */
export function readSettings(path: string): Record<string, unknown> {
  if (!existsSync(path)) return {};
  const raw = new Sqlite(path, { readonly: true });
  try {
    const rows = raw.query<{ key: string; value: string }, []>('SELECT key, value FROM settings').all();
    return Object.fromEntries(rows.map(({ key, value }) => [key, JSON.parse(value)]));
  } finally {
    raw.close();
  }
}

/** A short name for this instance, made once, that marks what it owns on a shared host. */
export function instanceName(settings: SettingStore, now: number): string {
  const known = settings.get('instance.name');
  if (typeof known === 'string') return known;
  const name = Buffer.from(crypto.getRandomValues(new Uint8Array(4))).toString('hex');
  settings.set('instance.name', name, now);
  return name;
}
