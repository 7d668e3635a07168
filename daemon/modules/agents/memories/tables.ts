import { blob, integer, primaryKey, real, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { Caller } from '../../../http/route.ts';
import type { MemoryScope, MemoryType, NewMemory } from './face.ts';

/** Tenants that have memories. */
export const memoryBooks = sqliteTable('agent_memory_books', {
  seq: integer().primaryKey({ autoIncrement: true }),
  tenant: text().notNull(),
  /** Memories of the tenant, those that are retired too. */
  count: integer().notNull(),
});

/** Memories that are shared by the same ones. */
export const memoryShelves = sqliteTable('agent_memory_shelves', {
  seq: integer().primaryKey({ autoIncrement: true }),
  tenant: text().notNull(),
  scope: text().$type<MemoryScope>().notNull(),
  /** Id of the agent or of the user; empty where the tenant shares it. */
  owner: text().notNull(),
});

/** Memories. One that is not active was retired, or another one has taken its place. */
export const agentMemories = sqliteTable('agent_memories', {
  seq: integer().primaryKey({ autoIncrement: true }),
  id: text().notNull(),
  tenant: text().notNull(),
  agentId: text('agent_id').notNull(),
  /** Who has said it or had it kept: a person, or a key. */
  userId: text('user_id').notNull(),
  shelf: integer().notNull(),
  scope: text().$type<MemoryScope>().notNull(),
  type: text().$type<MemoryType>().notNull(),
  content: text().notNull(),
  /** SHA-256 of the normalised content. */
  digest: text().notNull(),
  /** Empty when there is none. */
  factKey: text('fact_key').notNull(),
  confidence: real().notNull(),
  source: text().$type<NewMemory['source']>().notNull(),
  sessionId: text('session_id'),
  turnNumber: integer('turn_number'),
  accessCount: integer('access_count').notNull(),
  lastAccessedAt: integer('last_accessed_at'),
  active: integer({ mode: 'boolean' }).notNull(),
  /** Id of the memory that has taken its place. */
  supersededBy: text('superseded_by'),
  /** The model of its vector; empty when it has none. */
  vectorModel: text('vector_model').notNull(),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
});

/** A row of `agent_memories`. */
export type MemoryRow = typeof agentMemories.$inferSelect;

/** Vectors that can be compared: those of one shelf, by one model, of one length. */
export const memorySpaces = sqliteTable('agent_memory_spaces', {
  seq: integer().primaryKey({ autoIncrement: true }),
  shelf: integer().notNull(),
  model: text().notNull(),
  dimension: integer().notNull(),
});

/** Vectors of active memories. One that is made later has a greater `seq`. */
export const memoryVectors = sqliteTable('agent_memory_vectors', {
  seq: integer().primaryKey({ autoIncrement: true }),
  space: integer().notNull(),
  memory: integer().notNull(),
  /** Little-endian 32-bit floats. */
  vector: blob({ mode: 'buffer' }).notNull(),
});

/** Calls of tools that have stored something, so that none does it twice. */
export const memoryCalls = sqliteTable(
  'agent_memory_calls',
  {
    tenant: text().notNull(),
    callId: text('call_id').notNull(),
    /** Id of the memory. */
    memory: text().notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenant, table.callId] })],
);

/** Turns that are learned from, each once. */
export const memoryLessons = sqliteTable(
  'agent_memory_lessons',
  {
    tenant: text().notNull(),
    sessionId: text('session_id').notNull(),
    turnNumber: integer('turn_number').notNull(),
    agentId: text('agent_id').notNull(),
    model: text().notNull(),
    scope: text().$type<MemoryScope>().notNull(),
    /** By whose right the model is asked. */
    caller: text({ mode: 'json' }).$type<Caller>().notNull(),
    /** What the user has said; empty as soon as it is over. */
    input: text().notNull(),
    state: text().$type<'waiting' | 'learned' | 'failed'>().notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenant, table.sessionId, table.turnNumber] })],
);

/** A row of `agent_memory_lessons`. */
export type LessonRow = typeof memoryLessons.$inferSelect;
