-- Who may enter: organizations (the tenants), people, sessions, one-time links, invitations, API keys.
-- Secrets stand here as SHA-256 or sealed; a copy of the database lets nobody in.

CREATE TABLE organizations (
  id TEXT PRIMARY KEY,
  slug TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  owner_id TEXT,
  is_instance INTEGER NOT NULL DEFAULT 0 CHECK (is_instance IN (0, 1)),
  external_id TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX organizations_instance ON organizations (is_instance) WHERE is_instance = 1;

CREATE TABLE users (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  avatar_url TEXT NOT NULL DEFAULT '',
  password_hash TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE identities (
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX identities_user ON identities (user_id);

CREATE TABLE memberships (
  tenant TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  role TEXT NOT NULL CHECK (role IN ('viewer', 'member', 'admin', 'owner')),
  joined_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX memberships_user ON memberships (user_id, joined_at);

CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  token_hash TEXT NOT NULL UNIQUE,
  tenant TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  user_id TEXT REFERENCES users (id) ON DELETE CASCADE,
  role TEXT CHECK (role IN ('viewer', 'member', 'admin', 'owner')),
  provider TEXT,
  access_token TEXT,
  refresh_token TEXT,
  access_expires_at INTEGER,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  CHECK ((user_id IS NULL) <> (role IS NULL))
) STRICT;
CREATE INDEX sessions_user ON sessions (user_id, tenant);
CREATE INDEX sessions_expiry ON sessions (expires_at);

CREATE TABLE login_links (
  token_hash TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('magic', 'launch')),
  tenant TEXT REFERENCES organizations (id) ON DELETE CASCADE,
  user_id TEXT REFERENCES users (id) ON DELETE CASCADE,
  role TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX login_links_expiry ON login_links (expires_at);

CREATE TABLE invitations (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  email TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('viewer', 'member', 'admin', 'owner')),
  token_hash TEXT NOT NULL UNIQUE,
  invited_by_email TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  accepted_at INTEGER
) STRICT;
CREATE INDEX invitations_tenant ON invitations (tenant, created_at);
CREATE INDEX invitations_email ON invitations (email);

CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('root', 'org', 'user')),
  user_id TEXT REFERENCES users (id) ON DELETE CASCADE,
  lookup TEXT NOT NULL UNIQUE,
  hash TEXT NOT NULL,
  masked TEXT NOT NULL,
  last_used_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  CHECK ((type = 'user') = (user_id IS NOT NULL))
) STRICT;
CREATE INDEX api_keys_tenant ON api_keys (tenant, created_at);
CREATE INDEX api_keys_user ON api_keys (user_id);

CREATE TABLE oidc_attempts (
  secret_hash TEXT PRIMARY KEY,
  provider TEXT NOT NULL,
  state_hash TEXT NOT NULL,
  redirect_uri TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE exchange_tokens (
  jti_hash TEXT PRIMARY KEY,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
