-- Tool servers of tenants (Model Context Protocol), what they offer, and what this service offers to clients of its own.

CREATE TABLE mcp_servers (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  -- The name as it stands in the names of its tools: two servers cannot share it.
  slug TEXT NOT NULL,
  transport TEXT NOT NULL CHECK (transport IN ('http', 'sse', 'stdio')),
  url TEXT NOT NULL,
  auth TEXT NOT NULL CHECK (auth IN ('none', 'api_key', 'bearer', 'oauth2')),
  -- Credentials, headers and the environment of its program.
  sealed TEXT NOT NULL,
  -- JSON: the tools that are offered, or those that are not; NULL offers all.
  tool_filter TEXT,
  enabled INTEGER NOT NULL,
  health TEXT NOT NULL CHECK (health IN ('unknown', 'healthy', 'unhealthy')),
  health_error TEXT,
  health_checked_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (tenant, name),
  UNIQUE (tenant, slug)
) STRICT;

CREATE TABLE mcp_tools (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  server_id TEXT NOT NULL REFERENCES mcp_servers (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  input_schema TEXT NOT NULL,
  annotations TEXT NOT NULL,
  discovered_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  UNIQUE (server_id, name)
) STRICT;

CREATE INDEX mcp_tools_of ON mcp_tools (tenant, server_id);

-- What an authorization server has given for a tool server.
CREATE TABLE mcp_tokens (
  server_id TEXT PRIMARY KEY REFERENCES mcp_servers (id) ON DELETE CASCADE,
  tenant TEXT NOT NULL,
  sealed TEXT NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

-- Authorizations that a person has begun. The state is stored as its hash, and is good once.
CREATE TABLE mcp_authorizations (
  state_hash TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  server_id TEXT NOT NULL REFERENCES mcp_servers (id) ON DELETE CASCADE,
  sealed TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;

CREATE INDEX mcp_authorizations_due ON mcp_authorizations (expires_at);

-- Written down before a sandbox is made, so that one is found which was made while the daemon ended.
CREATE TABLE mcp_sandboxes (
  key TEXT PRIMARY KEY,
  tenant TEXT NOT NULL
) STRICT;

-- Tools at /mcp that a tenant has switched; those without a row are on.
CREATE TABLE mcp_switches (
  tenant TEXT NOT NULL,
  tool TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  PRIMARY KEY (tenant, tool)
) STRICT, WITHOUT ROWID;
