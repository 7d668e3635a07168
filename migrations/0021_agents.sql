-- Agents of tenants and what they were at each version.

CREATE TABLE agents (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  name TEXT NOT NULL COLLATE NOCASE,
  -- Absent: it has none. In a tenant, names and aliases are one set of words.
  mention_alias TEXT COLLATE NOCASE,
  mode TEXT NOT NULL CHECK (mode IN ('primary', 'subagent')),
  hidden INTEGER NOT NULL,
  enabled INTEGER NOT NULL,
  version INTEGER NOT NULL,
  -- Everything that its owner says of it, as JSON.
  definition TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (tenant, name)
) STRICT;

CREATE UNIQUE INDEX agents_by_alias ON agents (tenant, mention_alias);

CREATE TABLE agent_versions (
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  tenant TEXT NOT NULL,
  version INTEGER NOT NULL,
  definition TEXT NOT NULL,
  -- Names of the fields that it changed, as a JSON list.
  changes TEXT NOT NULL,
  actor TEXT NOT NULL,
  -- The agent that did it for the actor, when one did.
  by_agent TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (agent_id, version)
) STRICT;
