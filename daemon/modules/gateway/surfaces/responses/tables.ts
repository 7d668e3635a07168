import { blob, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { Run } from './run.ts';
import type { Item, ResponseObject, Status } from './wire.ts';

/** Responses that callers may come back to. */
export const responses = sqliteTable(
  'responses',
  {
    tenant: text().notNull(),
    id: text().notNull(),
    status: text().$type<Status>().notNull(),
    background: integer({ mode: 'boolean' }).notNull(),
    previousId: text('previous_id'),
    /** Who has answered; empty when nobody has. */
    provider: text().notNull(),
    /** The response without its output. */
    body: text({ mode: 'json' }).$type<Omit<ResponseObject, 'output'>>().notNull(),
    run: text({ mode: 'json' }).$type<Run>(),
    /** Lines of JSON, compressed (zstd). */
    events: blob({ mode: 'buffer' }),
    createdAt: integer('created_at').notNull(),
    usedAt: integer('used_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenant, table.id] })],
);

/** A row of `responses`. */
export type ResponseRow = typeof responses.$inferSelect;

/** What went into responses and came out of them. */
export const responseItems = sqliteTable(
  'response_items',
  {
    tenant: text().notNull(),
    responseId: text('response_id').notNull(),
    side: text().$type<'input' | 'output'>().notNull(),
    position: integer().notNull(),
    id: text().notNull(),
    body: text({ mode: 'json' }).$type<Item>().notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenant, table.responseId, table.side, table.position] })],
);
