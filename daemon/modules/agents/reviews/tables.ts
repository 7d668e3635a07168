import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { CallDecision, Review, ReviewedCall } from './face.ts';
import type { Risk } from './risk.ts';

/** A call as it is kept: with the badges that it had when it was asked about. */
export interface KeptCall extends ReviewedCall {
  readonly risk: readonly Risk[];
}

/** Reviews of calls. */
export const agentReviews = sqliteTable('agent_reviews', {
  id: text().primaryKey(),
  tenant: text().notNull(),
  sessionId: text('session_id').notNull(),
  agentId: text('agent_id').notNull(),
  turnNumber: integer('turn_number').notNull(),
  iteration: integer().notNull(),
  status: text().$type<Review['status']>().notNull(),
  calls: text({ mode: 'json' }).$type<readonly KeptCall[]>().notNull(),
  decisions: text({ mode: 'json' }).$type<readonly CallDecision[]>().notNull(),
  defaultAction: text('default_action').$type<Review['defaultAction']>().notNull(),
  note: text().notNull(),
  requestedAt: integer('requested_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
  resolvedAt: integer('resolved_at'),
  resolvedBy: text('resolved_by').notNull(),
  reviewer: text().notNull(),
  resolutionReason: text('resolution_reason').notNull(),
});

/** A row of `agent_reviews`. */
export type ReviewRow = typeof agentReviews.$inferSelect;
