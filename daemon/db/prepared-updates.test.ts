import { describe, expect, test } from 'bun:test';
import { and, eq, inArray, sql } from 'drizzle-orm';
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { openDatabase } from './open.ts';
import { PreparedUpdates } from './prepared-updates.ts';

const things = sqliteTable('things', {
  id: text().primaryKey(),
  tenant: text().notNull(),
  state: text().notNull(),
  data: text({ mode: 'json' }).$type<{ n: number }>(),
  isOn: integer('is_on', { mode: 'boolean' }),
});

function scene() {
  const db = openDatabase(':memory:', []);
  db.raw.run('CREATE TABLE things (id TEXT, tenant TEXT, state TEXT, data TEXT, is_on INTEGER)');
  db.sql
    .insert(things)
    .values({ id: 'a', tenant: 't', state: 'new', data: { n: 1 }, isOn: true })
    .run();
  const updates = new PreparedUpdates(db, things, (states) =>
    and(
      eq(things.tenant, sql.placeholder('whereTenant')),
      eq(things.id, sql.placeholder('whereId')),
      states.length > 0 ? inArray(things.state, [...states]) : undefined,
    ),
  );
  return { updates, row: () => db.sql.select().from(things).get() };
}

describe('an update', () => {
  test('sets what it names, in the form of its column, and leaves the rest', () => {
    const { updates, row } = scene();
    expect(updates.run({ data: { n: 2 }, isOn: false }, { tenant: 't', id: 'a' })).toBe(true);
    expect(row()).toEqual({ id: 'a', tenant: 't', state: 'new', data: { n: 2 }, isOn: false });
    expect(updates.run({ data: null, state: undefined }, { tenant: 't', id: 'a' })).toBe(true);
    expect(row()).toMatchObject({ state: 'new', data: null });
  });

  test.each([
    ['of another tenant', { tenant: 'u', id: 'a' }, []],
    ['with another id', { tenant: 't', id: 'b' }, []],
    ['in another state', { tenant: 't', id: 'a' }, ['old']],
  ])('of a row %s changes nothing', (_, meant, states) => {
    const { updates, row } = scene();
    expect(updates.run({ isOn: false }, meant, states)).toBe(false);
    expect(row()?.isOn).toBe(true);
  });

  test('may set the columns that say which row is meant', () => {
    const { updates, row } = scene();
    expect(updates.run({ id: 'z', state: 'old' }, { tenant: 't', id: 'a' }, ['new'])).toBe(true);
    expect(row()).toMatchObject({ id: 'z', state: 'old' });
  });
});
