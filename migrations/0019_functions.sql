-- Functions of tenants, their calls, and the sandboxes that run their code.

CREATE TABLE functions (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('webhook', 'proxy', 'isolated')),
  -- JSON Schema of the arguments.
  parameters TEXT NOT NULL,
  -- How it is carried out, with its secrets.
  sealed TEXT NOT NULL,
  timeout_ms INTEGER NOT NULL,
  memory_mb INTEGER NOT NULL,
  max_retries INTEGER NOT NULL,
  enabled INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (tenant, name)
) STRICT;

CREATE TABLE function_invocations (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  function_id TEXT NOT NULL REFERENCES functions (id) ON DELETE CASCADE,
  status TEXT NOT NULL,
  error TEXT,
  attempts INTEGER NOT NULL,
  duration_ms INTEGER,
  started_at INTEGER NOT NULL
) STRICT;

CREATE INDEX function_invocations_of ON function_invocations (tenant, function_id);

-- Written down before a sandbox is made, so that one is found which was made while the daemon ended.
CREATE TABLE function_sandboxes (
  key TEXT PRIMARY KEY,
  tenant TEXT NOT NULL
) STRICT;
