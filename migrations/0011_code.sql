-- Code contexts, and their runs among the executions.

CREATE TABLE code_contexts (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  sandbox_id TEXT NOT NULL REFERENCES sandboxes (id) ON DELETE CASCADE,
  language TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open', 'ended')),
  reason TEXT,
  created_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT;
CREATE INDEX code_contexts_sandbox ON code_contexts (sandbox_id, created_at);
CREATE INDEX code_contexts_open ON code_contexts (state) WHERE state = 'open';

CREATE TABLE executions_with_code (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  sandbox_id TEXT NOT NULL REFERENCES sandboxes (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('command', 'background', 'terminal', 'pipe', 'code')),
  language TEXT NOT NULL DEFAULT 'sh',
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
INSERT INTO executions_with_code (id, tenant, sandbox_id, kind, command, ref, state, exit_code, signal, timed_out,
  error, stdout, stderr, log_dropped, deadline_at, duration_ms, created_at, finished_at)
SELECT id, tenant, sandbox_id, kind, command, ref, state, exit_code, signal, timed_out,
  error, stdout, stderr, log_dropped, deadline_at, duration_ms, created_at, finished_at FROM executions;
DROP TABLE executions;
ALTER TABLE executions_with_code RENAME TO executions;
CREATE INDEX executions_sandbox ON executions (sandbox_id, created_at);
CREATE INDEX executions_running ON executions (state) WHERE state = 'running';
