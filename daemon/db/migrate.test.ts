import { Database as Sqlite } from 'bun:sqlite';
import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getTableColumns, getTableName, isTable } from 'drizzle-orm';
import { migrations } from '../../migrations/index.ts';
import { openDatabase } from './open.ts';

const dir = mkdtempSync(join(tmpdir(), 'svc-db-'));
afterAll(() => rmSync(dir, { recursive: true }));

const first = { version: 1, name: 'one', sql: 'CREATE TABLE one (id INTEGER PRIMARY KEY);' };
const second = { version: 2, name: 'two', sql: 'CREATE TABLE two (id INTEGER PRIMARY KEY);' };

test('missing steps are applied once, in order', () => {
  const path = join(dir, 'steps.db');
  openDatabase(path, [first]).close();
  const db = openDatabase(path, [first, second]);
  expect(db.raw.query('SELECT version, name FROM schema_migrations').all()).toEqual([
    { version: 1, name: 'one' },
    { version: 2, name: 'two' },
  ]);
  db.close();
});

test('a step that fails leaves nothing behind', () => {
  const path = join(dir, 'broken.db');
  openDatabase(path, [first]).close();
  const broken = { version: 2, name: 'broken', sql: 'CREATE TABLE half (id INTEGER); SELECT nonsense;' };
  expect(() => openDatabase(path, [first, broken])).toThrow();
  const sqlite = new Sqlite(path);
  expect(sqlite.query("SELECT count(*) AS n FROM sqlite_master WHERE name = 'half'").get()).toEqual({ n: 0 });
  sqlite.close();
});

test('a database of a newer svc is refused and stays byte for byte as it was', () => {
  const path = join(dir, 'newer.db');
  openDatabase(path, [first, second]).close();
  const before = readFileSync(path);
  expect(() => openDatabase(path, [first])).toThrow('has schema 2; this svc knows 1');
  expect(readFileSync(path).equals(before)).toBe(true);
});

test('every migration file is embedded, in the order of its number, without gaps', () => {
  const folder = join(import.meta.dir, '../../migrations');
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort();
  const names = migrations.map(({ version, name }) => `${String(version).padStart(4, '0')}_${name}.sql`);
  expect(names).toEqual(files);
  expect(migrations.map(({ version }) => version)).toEqual(files.map((_, i) => i + 1));
  for (const { version, name, sql } of migrations) {
    expect(sql).toBe(readFileSync(join(folder, `${String(version).padStart(4, '0')}_${name}.sql`), 'utf8'));
  }
});

test('the tables that the stores use have the columns that the migrations made', async () => {
  const db = openDatabase(':memory:', migrations);
  const sources = [...new Bun.Glob('daemon/**/tables.ts').scanSync(join(import.meta.dir, '../..'))];
  expect(sources.length).toBeGreaterThan(2);
  for (const source of sources) {
    const exported: Record<string, unknown> = await import(join(import.meta.dir, '../..', source));
    for (const table of Object.values(exported).filter((value) => isTable(value))) {
      const name = getTableName(table);
      const real = db.raw
        .query<{ name: string; notnull: number; pk: number }, []>(`PRAGMA table_info(${name})`)
        .all();
      const declared = Object.values(getTableColumns(table)).map((column) => ({
        name: column.name,
        required: column.notNull,
      }));
      const actual = real.map((column) => ({
        name: column.name,
        required: column.notnull === 1 || column.pk > 0,
      }));
      expect({ name, columns: declared.sort(byName) }).toEqual({ name, columns: actual.sort(byName) });
    }
  }
});

const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name);
