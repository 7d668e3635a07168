-- Who gets into sandboxes by SSH, and with what.

CREATE TABLE ssh_tokens (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  sandbox_id TEXT NOT NULL REFERENCES sandboxes (id) ON DELETE CASCADE,
  token_hash TEXT NOT NULL UNIQUE,
  minutes INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX ssh_tokens_sandbox ON ssh_tokens (sandbox_id, expires_at);
CREATE INDEX ssh_tokens_expiry ON ssh_tokens (expires_at);

CREATE TABLE ssh_grants (
  tenant TEXT NOT NULL,
  sandbox_id TEXT NOT NULL REFERENCES sandboxes (id) ON DELETE CASCADE,
  user_id TEXT NOT NULL,
  granted_by TEXT NOT NULL,
  granted_at INTEGER NOT NULL,
  revoked_at INTEGER,
  PRIMARY KEY (sandbox_id, user_id)
) STRICT;

CREATE TABLE ssh_keys (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant TEXT NOT NULL,
  user_id TEXT NOT NULL,
  name TEXT NOT NULL,
  key_type TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER
) STRICT;
CREATE UNIQUE INDEX ssh_keys_fingerprint ON ssh_keys (fingerprint, tenant);
CREATE INDEX ssh_keys_user ON ssh_keys (tenant, user_id, id);
