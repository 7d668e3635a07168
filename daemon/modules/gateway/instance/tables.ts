import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/** What a licence is for. */
export type PlanTier = 'free' | 'basic' | 'pro' | 'enterprise';
/** How a licence stands by the last that was heard. */
export type LicenseStanding = 'active' | 'inactive' | 'expired' | 'suspended' | 'cancelled';
/** What a limit counts. */
export type LimitType =
  | 'requests'
  | 'executions'
  | 'storage'
  | 'bandwidth'
  | 'requests_per_second'
  | 'requests_per_minute'
  | 'requests_per_hour';

/** The licence of the instance, kept under the tenant that the instance belongs to. */
export const instanceLicense = sqliteTable('instance_license', {
  tenant: text().primaryKey(),
  /** When the first activation came; null when only the subscription was heard of. */
  activatedAt: integer('activated_at'),
  planTier: text('plan_tier').$type<PlanTier>().notNull(),
  status: text().$type<LicenseStanding>().notNull(),
  features: text({ mode: 'json' }).$type<Readonly<Record<string, boolean>>>().notNull(),
  usageLimits: text('usage_limits', { mode: 'json' })
    .$type<Readonly<Partial<Record<LimitType, number>>>>()
    .notNull(),
  /** Null when it has no end. */
  expiresAt: integer('expires_at'),
  refreshIntervalSecs: integer('refresh_interval_secs').notNull(),
  gracePeriodSecs: integer('grace_period_secs').notNull(),
  /** Empty when the activation named no device. */
  deviceFingerprintHash: text('device_fingerprint_hash').notNull(),
  /** When the newest statement that was applied was made. */
  issuedAt: integer('issued_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
});

/** Statements that were taken, until they expire by themselves. */
export const licenseStatements = sqliteTable(
  'license_statements',
  {
    tenant: text().notNull(),
    /** SHA-256 of the statement's id, in hex. */
    jtiHash: text('jti_hash').notNull(),
    kind: text().notNull(),
    /** SHA-256 of the whole statement, in hex. */
    statementHash: text('statement_hash').notNull(),
    receivedAt: integer('received_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
  },
  ({ tenant, jtiHash }) => [primaryKey({ columns: [tenant, jtiHash] })],
);

/** A row of `instance_license`. */
export type LicenseRow = typeof instanceLicense.$inferSelect;
/** A row of `license_statements`. */
export type StatementRow = typeof licenseStatements.$inferSelect;
