import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { Histogram } from './histogram.ts';

/** What requests took and cost by day. Tokens, and millionths of a US dollar. */
export const usageTotals = sqliteTable(
  'usage_totals',
  {
    tenant: text().notNull(),
    dayAt: integer('day_at').notNull(),
    actor: text().notNull(),
    provider: text().notNull(),
    model: text().notNull(),
    surface: text().notNull(),
    requests: integer().notNull(),
    errors: integer().notNull(),
    stopped: integer().notNull(),
    cacheHits: integer('cache_hits').notNull(),
    estimated: integer().notNull(),
    unpriced: integer().notNull(),
    inputTokens: integer('input_tokens').notNull(),
    outputTokens: integer('output_tokens').notNull(),
    cachedInputTokens: integer('cached_input_tokens').notNull(),
    cacheWriteTokens: integer('cache_write_tokens').notNull(),
    reasoningTokens: integer('reasoning_tokens').notNull(),
    costMicros: integer('cost_micros').notNull(),
    durations: text({ mode: 'json' }).$type<Histogram>().notNull(),
    firstBytes: text('first_bytes', { mode: 'json' }).$type<Histogram>().notNull(),
  },
  (table) => [
    primaryKey({
      columns: [table.tenant, table.dayAt, table.actor, table.provider, table.model, table.surface],
    }),
  ],
);

/** A row of `usage_totals`. */
export type TotalRow = typeof usageTotals.$inferSelect;

/** How far into which request log the sums reach. */
export const usagePosition = sqliteTable('usage_position', {
  logId: text('log_id').primaryKey(),
  seq: integer().notNull(),
});
