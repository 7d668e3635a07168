import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { Role } from '../../../src/api/endpoint.ts';

/** A team; the tenant of everything that its members make. */
export const organizations = sqliteTable('organizations', {
  id: text().primaryKey(),
  slug: text().notNull(),
  name: text().notNull(),
  /** The first owner, who cannot be removed. */
  ownerId: text('owner_id'),
  /** The organization that the instance itself belongs to; there is one. */
  isInstance: integer('is_instance', { mode: 'boolean' }).notNull(),
  /** What the control plane calls it. */
  externalId: text('external_id'),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
});

/** A person. The email stands in lower case. */
export const users = sqliteTable('users', {
  id: text().primaryKey(),
  email: text().notNull(),
  name: text().notNull(),
  avatarUrl: text('avatar_url').notNull(),
  /** Argon2id in PHC form; null when the person signs in elsewhere. */
  passwordHash: text('password_hash'),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
});

/** What an identity provider calls a person. */
export const identities = sqliteTable(
  'identities',
  {
    issuer: text().notNull(),
    subject: text().notNull(),
    userId: text('user_id').notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.issuer, table.subject] })],
);

/** A person's place in an organization. */
export const memberships = sqliteTable(
  'memberships',
  {
    tenant: text().notNull(),
    userId: text('user_id').notNull(),
    role: text().$type<Role>().notNull(),
    joinedAt: integer('joined_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenant, table.userId] })],
);

/** A browser that is signed in. */
export const sessions = sqliteTable('sessions', {
  id: text().primaryKey(),
  tokenHash: text('token_hash').notNull(),
  tenant: text().notNull(),
  /** Null for the operator, who came by a launch URL before anybody had registered. */
  userId: text('user_id'),
  /** Of the operator; a person's role is that of the membership. */
  role: text().$type<Role>(),
  /** The identity provider that keeps the tokens below. */
  provider: text(),
  /** Sealed, bound to the session's id. */
  accessToken: text('access_token'),
  refreshToken: text('refresh_token'),
  accessExpiresAt: integer('access_expires_at'),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
});

/** A link that signs somebody in once. */
export const loginLinks = sqliteTable('login_links', {
  tokenHash: text('token_hash').primaryKey(),
  kind: text().$type<'magic' | 'launch'>().notNull(),
  tenant: text(),
  userId: text('user_id'),
  role: text().$type<Role>(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
});

/** An invitation to an organization. */
export const invitations = sqliteTable('invitations', {
  id: text().primaryKey(),
  tenant: text().notNull(),
  email: text().notNull(),
  role: text().$type<Role>().notNull(),
  tokenHash: text('token_hash').notNull(),
  /** Empty when a key sent it. */
  invitedByEmail: text('invited_by_email').notNull(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
  acceptedAt: integer('accepted_at'),
});

/** A key that programs call with. */
export const apiKeys = sqliteTable('api_keys', {
  id: text().primaryKey(),
  tenant: text().notNull(),
  name: text().notNull(),
  type: text().$type<'root' | 'org' | 'user'>().notNull(),
  userId: text('user_id'),
  /** The first 64 bits of the hash, in hex. */
  lookup: text().notNull(),
  /** SHA-256 of the key, in hex. */
  hash: text().notNull(),
  /** What may be shown of the key. */
  masked: text().notNull(),
  lastUsedAt: integer('last_used_at'),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
});

/** A sign-in at an identity provider that has begun. */
export const oidcAttempts = sqliteTable('oidc_attempts', {
  secretHash: text('secret_hash').primaryKey(),
  provider: text().notNull(),
  stateHash: text('state_hash').notNull(),
  redirectUri: text('redirect_uri').notNull(),
  expiresAt: integer('expires_at').notNull(),
});

/** Exchange tokens that were used and have not expired. */
export const exchangeTokens = sqliteTable('exchange_tokens', {
  jtiHash: text('jti_hash').primaryKey(),
  expiresAt: integer('expires_at').notNull(),
});

/** A row of `organizations`. */
export type OrganizationRow = typeof organizations.$inferSelect;
/** A row of `users`. */
export type UserRow = typeof users.$inferSelect;
/** A row of `sessions`. */
export type SessionRow = typeof sessions.$inferSelect;
/** A row of `login_links`. */
export type LoginLinkRow = typeof loginLinks.$inferSelect;
/** A row of `invitations`. */
export type InvitationRow = typeof invitations.$inferSelect;
/** A row of `api_keys`. */
export type ApiKeyRow = typeof apiKeys.$inferSelect;
/** A row of `oidc_attempts`. */
export type OidcAttemptRow = typeof oidcAttempts.$inferSelect;
