-- Commands that run by the clock or by a call, and endpoints that are told what happens to sandboxes.

CREATE TABLE sandbox_crons (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant TEXT NOT NULL,
  sandbox_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  name TEXT NOT NULL,
  schedule TEXT NOT NULL,
  timezone TEXT NOT NULL,
  command TEXT NOT NULL,
  work_dir TEXT NOT NULL,
  timeout_seconds INTEGER NOT NULL,
  enabled INTEGER NOT NULL,
  missed_runs TEXT NOT NULL CHECK (missed_runs IN ('skip', 'run_once')),
  overlap TEXT NOT NULL CHECK (overlap IN ('skip', 'queue', 'allow')),
  wake INTEGER NOT NULL,
  auto_recreate INTEGER NOT NULL,
  sandbox_config TEXT,
  last_run_at INTEGER,
  next_run_at INTEGER,
  run_count INTEGER NOT NULL DEFAULT 0,
  error_count INTEGER NOT NULL DEFAULT 0,
  last_error TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX sandbox_crons_tenant ON sandbox_crons (tenant, id);
CREATE INDEX sandbox_crons_due ON sandbox_crons (next_run_at) WHERE next_run_at IS NOT NULL;

CREATE TABLE sandbox_webhooks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant TEXT NOT NULL,
  sandbox_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  name TEXT NOT NULL,
  path TEXT NOT NULL UNIQUE,
  command TEXT NOT NULL,
  work_dir TEXT NOT NULL,
  timeout_seconds INTEGER NOT NULL,
  enabled INTEGER NOT NULL,
  rate_limit_rpm INTEGER NOT NULL,
  secret TEXT,
  wake INTEGER NOT NULL,
  auto_recreate INTEGER NOT NULL,
  sandbox_config TEXT,
  last_triggered_at INTEGER,
  trigger_count INTEGER NOT NULL DEFAULT 0,
  error_count INTEGER NOT NULL DEFAULT 0,
  last_error TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX sandbox_webhooks_tenant ON sandbox_webhooks (tenant, id);

CREATE TABLE sandbox_triggers (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant TEXT NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('cron', 'webhook')),
  trigger_id INTEGER NOT NULL,
  sandbox_id TEXT NOT NULL,
  execution_id TEXT NOT NULL DEFAULT '',
  lane TEXT,
  status TEXT NOT NULL CHECK (status IN ('queued', 'running', 'succeeded', 'failed', 'timed_out', 'skipped', 'interrupted')),
  error TEXT NOT NULL DEFAULT '',
  exit_code INTEGER,
  delivery_id TEXT,
  method TEXT NOT NULL DEFAULT '',
  headers TEXT NOT NULL DEFAULT '{}',
  body BLOB,
  scheduled_at INTEGER,
  started_at INTEGER,
  finished_at INTEGER,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX sandbox_triggers_tenant ON sandbox_triggers (tenant, id);
CREATE INDEX sandbox_triggers_of ON sandbox_triggers (type, trigger_id, id);
CREATE INDEX sandbox_triggers_open ON sandbox_triggers (status, id) WHERE status IN ('queued', 'running');
CREATE INDEX sandbox_triggers_age ON sandbox_triggers (created_at);
CREATE UNIQUE INDEX sandbox_triggers_delivery ON sandbox_triggers (type, trigger_id, delivery_id) WHERE delivery_id IS NOT NULL;
CREATE UNIQUE INDEX sandbox_triggers_slot ON sandbox_triggers (type, trigger_id, scheduled_at) WHERE scheduled_at IS NOT NULL;

CREATE TABLE webhook_endpoints (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  url TEXT NOT NULL,
  events TEXT NOT NULL,
  secret TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX webhook_endpoints_tenant ON webhook_endpoints (tenant, created_at);

CREATE TABLE webhook_deliveries (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  tenant TEXT NOT NULL,
  endpoint_id TEXT NOT NULL REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
  event TEXT NOT NULL,
  body TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'delivered', 'failed')),
  attempts INTEGER NOT NULL,
  max_attempts INTEGER NOT NULL,
  next_attempt_at INTEGER NOT NULL,
  response_status INTEGER,
  error TEXT,
  duration_ms INTEGER,
  created_at INTEGER NOT NULL,
  delivered_at INTEGER
) STRICT;
CREATE INDEX webhook_deliveries_endpoint ON webhook_deliveries (endpoint_id, seq);
CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (endpoint_id, next_attempt_at, seq) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (next_attempt_at) WHERE status = 'pending';
