import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/** What may be spent, in millionths of a US dollar. A window without a limit is null. */
export const budgetRows = sqliteTable(
  'budgets',
  {
    tenant: text().notNull(),
    /** `tenant`, or the id of a key or a person. */
    subject: text().notNull(),
    dayMicros: integer('day_micros'),
    monthMicros: integer('month_micros'),
    totalMicros: integer('total_micros'),
    isHard: integer('is_hard', { mode: 'boolean' }).notNull(),
    refusesUnpriced: integer('refuses_unpriced', { mode: 'boolean' }).notNull(),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenant, table.subject] })],
);

/** A row of `budgets`. */
export type BudgetRow = typeof budgetRows.$inferSelect;
