-- Snapshots, and volumes that sandboxes share.

CREATE TABLE snapshots (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  backend TEXT NOT NULL CHECK (backend IN ('namespace', 'docker')),
  state TEXT NOT NULL CHECK (state IN ('pending', 'active', 'inactive', 'error')),
  image_name TEXT NOT NULL,
  source_sandbox_id TEXT,
  size_bytes INTEGER,
  cpu REAL,
  memory_mb INTEGER,
  disk_mb INTEGER,
  error_reason TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  last_used_at INTEGER
) STRICT;
CREATE UNIQUE INDEX snapshots_name ON snapshots (tenant, name);
CREATE INDEX snapshots_tenant ON snapshots (tenant, created_at);

CREATE TABLE volumes (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('creating', 'ready', 'deleting', 'error')),
  error_reason TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  last_used_at INTEGER
) STRICT;
CREATE UNIQUE INDEX volumes_name ON volumes (tenant, name) WHERE state <> 'deleting';
CREATE INDEX volumes_tenant ON volumes (tenant, created_at);
