-- Sandboxes, what happened to them and what ran in them.

CREATE TABLE sandboxes (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  session_id TEXT NOT NULL,
  name TEXT NOT NULL,
  backend TEXT NOT NULL,
  container_id TEXT NOT NULL DEFAULT '',
  state TEXT NOT NULL,
  config TEXT NOT NULL,
  labels TEXT NOT NULL,
  idempotency_key TEXT,
  reason TEXT,
  failure TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  expires_at INTEGER,
  stopped_at INTEGER,
  delete_at INTEGER
) STRICT;
CREATE UNIQUE INDEX sandboxes_name ON sandboxes (tenant, name) WHERE name <> '' AND state NOT IN ('terminated', 'failed');
CREATE UNIQUE INDEX sandboxes_idempotency ON sandboxes (tenant, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX sandboxes_tenant ON sandboxes (tenant, created_at);
CREATE INDEX sandboxes_session ON sandboxes (tenant, session_id);
CREATE INDEX sandboxes_state ON sandboxes (state, expires_at);

CREATE TABLE sandbox_events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant TEXT NOT NULL,
  sandbox_id TEXT NOT NULL REFERENCES sandboxes (id) ON DELETE CASCADE,
  type TEXT NOT NULL,
  message TEXT NOT NULL,
  metadata TEXT NOT NULL,
  duration_ms INTEGER,
  error TEXT,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX sandbox_events_sandbox ON sandbox_events (sandbox_id, id);

CREATE TABLE executions (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  sandbox_id TEXT NOT NULL REFERENCES sandboxes (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('command', 'background', 'terminal', 'pipe')),
  command TEXT NOT NULL,
  ref TEXT,
  state TEXT NOT NULL CHECK (state IN ('running', 'finished', 'lost')),
  exit_code INTEGER,
  signal TEXT,
  timed_out INTEGER NOT NULL DEFAULT 0,
  error TEXT,
  stdout TEXT NOT NULL DEFAULT '',
  stderr TEXT NOT NULL DEFAULT '',
  log_dropped INTEGER NOT NULL DEFAULT 0,
  deadline_at INTEGER,
  duration_ms INTEGER,
  created_at INTEGER NOT NULL,
  finished_at INTEGER
) STRICT;
CREATE INDEX executions_sandbox ON executions (sandbox_id, created_at);
CREATE INDEX executions_running ON executions (state) WHERE state = 'running';
