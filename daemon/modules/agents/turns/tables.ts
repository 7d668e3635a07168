import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { ChatMessage } from '../../gateway/index.ts';

/** The conversation of a session, as the model is told of it. */
export const agentMessages = sqliteTable(
  'agent_messages',
  {
    sessionId: text('session_id').notNull(),
    seq: integer().notNull(),
    turnNumber: integer('turn_number').notNull(),
    message: text({ mode: 'json' }).$type<ChatMessage>().notNull(),
    tokens: integer().notNull(),
    isSummary: integer('is_summary', { mode: 'boolean' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.sessionId, table.seq] })],
);

/** A row of `agent_messages`. */
export type MessageRow = typeof agentMessages.$inferSelect;

/**
 * How a call stands: planned by the model; reviewed (waits for a person's leave); ready to be carried out; running; asking
 * (waits for a person's words); finished; told (its result
 * stands in the conversation). Only `ready` begins to run, and only once: a call that was cut off while it ran is
 * taken up by what it noted, or comes back through a review.
 */
export type CallState = 'planned' | 'reviewed' | 'ready' | 'running' | 'asking' | 'finished' | 'told';

/** Calls of tools. */
export const agentToolCalls = sqliteTable('agent_tool_calls', {
  id: text().primaryKey(),
  tenant: text().notNull(),
  sessionId: text('session_id').notNull(),
  turnNumber: integer('turn_number').notNull(),
  iteration: integer().notNull(),
  position: integer().notNull(),
  modelId: text('model_id').notNull(),
  name: text().notNull(),
  args: text().notNull(),
  state: text().$type<CallState>().notNull(),
  reviewId: text('review_id'),
  note: text(),
  ok: integer({ mode: 'boolean' }),
  output: text(),
  startedAt: integer('started_at'),
  durationMs: integer('duration_ms'),
});

/** A row of `agent_tool_calls`. */
export type CallRow = typeof agentToolCalls.$inferSelect;
