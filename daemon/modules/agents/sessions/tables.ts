import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { Caller } from '../../../http/route.ts';
import type { Agent } from '../definitions/agent.ts';

/** How a session stands (schemas: SessionStatus). Between turns it is `running`; `completed` and `cancelled` are for good. */
export type SessionState =
  | 'created'
  | 'running'
  | 'waiting_for_input'
  | 'waiting_for_approval'
  | 'completed'
  | 'failed'
  | 'cancelled';

/** Sessions of agents. */
export const agentSessions = sqliteTable('agent_sessions', {
  id: text().primaryKey(),
  tenant: text().notNull(),
  agentId: text('agent_id').notNull(),
  agent: text({ mode: 'json' }).$type<Agent>().notNull(),
  status: text().$type<SessionState>().notNull(),
  metadata: text({ mode: 'json' }).$type<Record<string, unknown>>().notNull(),
  turnCount: integer('turn_count').notNull(),
  steps: integer().notNull(),
  promptTokens: integer('prompt_tokens').notNull(),
  completionTokens: integer('completion_tokens').notNull(),
  costMicros: integer('cost_micros').notNull(),
  depth: integer().notNull(),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
  completedAt: integer('completed_at'),
});

/** A row of `agent_sessions`. */
export type SessionRow = typeof agentSessions.$inferSelect;

/** How a turn stands. `waiting`: for a person. A turn that was cancelled has failed. */
export type TurnState = 'queued' | 'running' | 'waiting' | 'completed' | 'failed';

/** What the request for a turn wished besides its input. */
export interface TurnOptions {
  /** Text is told as it comes; else in one piece. */
  readonly streams: boolean;
  /** The turn may search the web even when its agent has no such tool. */
  readonly searches: boolean;
}

/** Turns of sessions. */
export const agentTurns = sqliteTable('agent_turns', {
  id: text().primaryKey(),
  tenant: text().notNull(),
  sessionId: text('session_id').notNull(),
  number: integer().notNull(),
  status: text().$type<TurnState>().notNull(),
  /** Who has begun it, and under which Idempotency-Key of theirs; null when they gave none. */
  requestKey: text('request_key'),
  caller: text({ mode: 'json' }).$type<Caller>().notNull(),
  options: text({ mode: 'json' }).$type<TurnOptions>().notNull(),
  userInput: text('user_input').notNull(),
  recalled: text(),
  output: text().notNull(),
  error: text(),
  iteration: integer().notNull(),
  toolCalls: integer('tool_calls').notNull(),
  isAsking: integer('is_asking', { mode: 'boolean' }).notNull(),
  contextTokens: integer('context_tokens').notNull(),
  promptTokens: integer('prompt_tokens').notNull(),
  completionTokens: integer('completion_tokens').notNull(),
  costMicros: integer('cost_micros').notNull(),
  activeMs: integer('active_ms').notNull(),
  createdAt: integer('created_at').notNull(),
  completedAt: integer('completed_at'),
});

/** A row of `agent_turns`. */
export type TurnRow = typeof agentTurns.$inferSelect;

/** Words that join a turn at its next step. */
export const agentSteers = sqliteTable('agent_steers', {
  id: integer().primaryKey({ autoIncrement: true }),
  sessionId: text('session_id').notNull(),
  role: text().$type<'user' | 'system'>().notNull(),
  content: text().notNull(),
});

/** A row of `agent_steers`. */
export type SteerRow = typeof agentSteers.$inferSelect;
