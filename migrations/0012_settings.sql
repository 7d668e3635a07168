-- What tenants have changed of the runtime configuration, how checks of it went, and the licence of the instance.

CREATE TABLE runtime_configs (
  tenant TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE runtime_sections (
  tenant TEXT NOT NULL,
  section TEXT NOT NULL,
  given TEXT NOT NULL,
  version INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, section)
) STRICT, WITHOUT ROWID;

CREATE TABLE config_checks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant TEXT NOT NULL,
  checked_at INTEGER NOT NULL,
  state TEXT NOT NULL,
  error_count INTEGER NOT NULL,
  warning_count INTEGER NOT NULL,
  config_hash TEXT NOT NULL,
  sections TEXT NOT NULL
) STRICT;
CREATE INDEX config_checks_tenant ON config_checks (tenant, id);

CREATE TABLE instance_license (
  tenant TEXT PRIMARY KEY,
  activated_at INTEGER,
  plan_tier TEXT NOT NULL CHECK (plan_tier IN ('free', 'basic', 'pro', 'enterprise')),
  status TEXT NOT NULL CHECK (status IN ('active', 'inactive', 'expired', 'suspended', 'cancelled')),
  features TEXT NOT NULL,
  usage_limits TEXT NOT NULL,
  expires_at INTEGER,
  refresh_interval_secs INTEGER NOT NULL,
  grace_period_secs INTEGER NOT NULL,
  device_fingerprint_hash TEXT NOT NULL,
  issued_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE license_statements (
  tenant TEXT NOT NULL,
  jti_hash TEXT NOT NULL,
  kind TEXT NOT NULL,
  statement_hash TEXT NOT NULL,
  received_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, jti_hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX license_statements_age ON license_statements (expires_at);
