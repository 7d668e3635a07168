-- What sessions of agents keep beside their conversation: whole results of tools, and files that agents hand over.

CREATE TABLE agent_artifacts (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  session_id TEXT NOT NULL,
  -- The call that it comes from: a call that is taken up again finds what it has kept.
  call_id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('result', 'upload')),
  name TEXT NOT NULL,
  media_type TEXT NOT NULL,
  size INTEGER NOT NULL,
  -- 0 while its bytes are coming; nobody sees it before.
  complete INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (tenant, session_id, call_id)
) STRICT;

CREATE INDEX agent_artifacts_age ON agent_artifacts (created_at);

CREATE TABLE agent_artifact_parts (
  artifact_id TEXT NOT NULL REFERENCES agent_artifacts (id) ON DELETE CASCADE,
  -- Where it begins in the whole.
  start INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (artifact_id, start)
) STRICT;
