import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { LIFECYCLE_EVENTS } from '../../../../src/api/sandbox/lifecycle-webhooks.ts';

/** What endpoints are told about. */
export type LifecycleEvent = (typeof LIFECYCLE_EVENTS)[number];

/** Who is told what happens to sandboxes. */
export const webhookEndpoints = sqliteTable('webhook_endpoints', {
  id: text().primaryKey(),
  tenant: text().notNull(),
  url: text().notNull(),
  /** `*` stands for all, also those that come later. */
  events: text({ mode: 'json' }).$type<readonly string[]>().notNull(),
  /** Sealed. */
  secret: text().notNull(),
  createdAt: integer('created_at').notNull(),
});

/** A row of `webhook_endpoints`. */
export type EndpointRow = typeof webhookEndpoints.$inferSelect;

/** What endpoints are told, in the order in which it happened. */
export const webhookDeliveries = sqliteTable('webhook_deliveries', {
  seq: integer().primaryKey({ autoIncrement: true }),
  id: text().notNull(),
  tenant: text().notNull(),
  endpointId: text('endpoint_id').notNull(),
  event: text().notNull(),
  /** The very text that is sent and signed, the same at every attempt. */
  body: text().notNull(),
  status: text({ enum: ['pending', 'delivered', 'failed'] }).notNull(),
  /** Attempts that have ended. */
  attempts: integer().notNull(),
  maxAttempts: integer('max_attempts').notNull(),
  nextAttemptAt: integer('next_attempt_at').notNull(),
  responseStatus: integer('response_status'),
  error: text(),
  durationMs: integer('duration_ms'),
  createdAt: integer('created_at').notNull(),
  deliveredAt: integer('delivered_at'),
});

/** A row of `webhook_deliveries`. */
export type DeliveryRow = typeof webhookDeliveries.$inferSelect;
