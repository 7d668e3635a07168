import { blob, integer, primaryKey, real, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { Metric } from './recall/similarity.ts';
import type { UseKind } from './usage/tally.ts';

/** Texts by name. */
export type Metadata = Readonly<Record<string, string>>;

/** Collections of documents. One that is dead is removed piece by piece. */
export const memoryCollections = sqliteTable('memory_collections', {
  seq: integer().primaryKey({ autoIncrement: true }),
  id: text().notNull(),
  tenant: text().notNull(),
  name: text().notNull(),
  description: text().notNull(),
  /** `provider/model`, or any name that the gateway resolves; empty where recall is by words alone. */
  embeddingModel: text('embedding_model').notNull(),
  /** Numbers in a vector; 0 where there are none. */
  dimension: integer().notNull(),
  /** Whether the model has to be asked for vectors of this length. */
  asksDimension: integer('asks_dimension', { mode: 'boolean' }).notNull(),
  distance: text().$type<Metric>().notNull(),
  metadata: text({ mode: 'json' }).$type<Metadata>().notNull(),
  /** Of live documents, as the next count. */
  documentCount: integer('document_count').notNull(),
  chunkCount: integer('chunk_count').notNull(),
  state: text().$type<'live' | 'dead'>().notNull(),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
});

/** A row of `memory_collections`. */
export type CollectionRow = typeof memoryCollections.$inferSelect;

/** Documents. One that is staged is being written, one that is dead is being removed; callers see neither. */
export const memoryDocuments = sqliteTable('memory_documents', {
  seq: integer().primaryKey({ autoIncrement: true }),
  tenant: text().notNull(),
  collection: integer().notNull(),
  id: text().notNull(),
  /** SHA-256 of all that it was made from: the same one needs not be written again. */
  digest: text().notNull(),
  source: text().notNull(),
  metadata: text({ mode: 'json' }).$type<Metadata>().notNull(),
  chunkCount: integer('chunk_count').notNull(),
  state: text().$type<'staged' | 'live' | 'dead'>().notNull(),
  createdAt: integer('created_at').notNull(),
});

/** A row of `memory_documents`. */
export type DocumentRow = typeof memoryDocuments.$inferSelect;

/** The pieces of documents that are searched. */
export const memoryChunks = sqliteTable('memory_chunks', {
  seq: integer().primaryKey({ autoIncrement: true }),
  collection: integer().notNull(),
  document: integer().notNull(),
  /** Of the document, from 0. */
  position: integer().notNull(),
  text: text().notNull(),
  /** Little-endian 32-bit floats. */
  vector: blob({ mode: 'buffer' }),
});

/** The metadata of documents, one row a name. */
export const memoryLabels = sqliteTable(
  'memory_labels',
  {
    collection: integer().notNull(),
    name: text().notNull(),
    value: text().notNull(),
    document: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.collection, table.name, table.value, table.document] })],
);

/** How memory was used, by the hour. */
export const memoryUses = sqliteTable(
  'memory_uses',
  {
    tenant: text().notNull(),
    /** Its beginning, Unix time in milliseconds. */
    hour: integer().notNull(),
    /** Name of the collection; empty where none was found. */
    collection: text().notNull(),
    kind: text().$type<UseKind>().notNull(),
    count: integer().notNull(),
    errors: integer().notNull(),
    totalMs: real('total_ms').notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenant, table.hour, table.collection, table.kind] })],
);

/** A row of `memory_uses`. */
export type UseRow = typeof memoryUses.$inferSelect;
