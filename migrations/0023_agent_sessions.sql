-- Sessions of agents. Everything that a turn is stands in these rows, so that it goes on after the process has ended.

CREATE TABLE agent_sessions (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  -- The agent as it was when the session began (JSON).
  agent TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN
    ('created', 'running', 'waiting_for_input', 'waiting_for_approval', 'completed', 'failed', 'cancelled')),
  metadata TEXT NOT NULL,
  turn_count INTEGER NOT NULL,
  -- Calls of the model, over all turns.
  steps INTEGER NOT NULL,
  prompt_tokens INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL,
  cost_micros INTEGER NOT NULL,
  -- The place of a sub-agent; depth 0 is a session that people began.
  depth INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  completed_at INTEGER
) STRICT;

CREATE INDEX agent_sessions_of ON agent_sessions (tenant, created_at);
CREATE INDEX agent_sessions_by_agent ON agent_sessions (tenant, agent_id, created_at);

CREATE INDEX agent_sessions_open ON agent_sessions (tenant) WHERE status NOT IN ('completed', 'cancelled');
CREATE INDEX agent_sessions_untouched ON agent_sessions (updated_at);

CREATE TABLE agent_turns (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  session_id TEXT NOT NULL REFERENCES agent_sessions (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('queued', 'running', 'waiting', 'completed', 'failed')),
  -- Who has begun it, and their Idempotency-Key: the request that is sent again finds this turn.
  request_key TEXT,
  -- Whose rights it has (JSON).
  caller TEXT NOT NULL,
  -- What the request wished (JSON).
  options TEXT NOT NULL,
  user_input TEXT NOT NULL,
  -- What was recalled for it, as the model is told of it.
  recalled TEXT,
  output TEXT NOT NULL,
  error TEXT,
  -- Calls of the model so far, and calls of tools.
  iteration INTEGER NOT NULL,
  tool_calls INTEGER NOT NULL,
  -- A call of the model has begun and nothing is known of its end.
  is_asking INTEGER NOT NULL,
  -- Tokens of the last prompt, as the provider counted them.
  context_tokens INTEGER NOT NULL,
  prompt_tokens INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL,
  cost_micros INTEGER NOT NULL,
  -- Milliseconds of work, waiting for people left out.
  active_ms INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  completed_at INTEGER,
  UNIQUE (session_id, number),
  UNIQUE (session_id, request_key)
) STRICT;

-- One turn of a session is under way.
CREATE UNIQUE INDEX agent_turns_under_way ON agent_turns (session_id) WHERE status IN ('running', 'waiting');
CREATE INDEX agent_turns_open ON agent_turns (status) WHERE status IN ('queued', 'running', 'waiting');

-- The conversation as the model is told of it.
CREATE TABLE agent_messages (
  session_id TEXT NOT NULL REFERENCES agent_sessions (id) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  turn_number INTEGER NOT NULL,
  message TEXT NOT NULL,
  -- A guess of its length in tokens.
  tokens INTEGER NOT NULL,
  -- It stands for messages before it.
  is_summary INTEGER NOT NULL,
  PRIMARY KEY (session_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE agent_tool_calls (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  session_id TEXT NOT NULL REFERENCES agent_sessions (id) ON DELETE CASCADE,
  turn_number INTEGER NOT NULL,
  iteration INTEGER NOT NULL,
  position INTEGER NOT NULL,
  -- The id that the model gave it.
  model_id TEXT NOT NULL,
  name TEXT NOT NULL,
  args TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('planned', 'reviewed', 'ready', 'running', 'asking', 'finished', 'told')),
  review_id TEXT,
  -- What the tool wrote down while it ran.
  note TEXT,
  ok INTEGER,
  output TEXT,
  started_at INTEGER,
  duration_ms INTEGER
) STRICT;

CREATE UNIQUE INDEX agent_tool_calls_of ON agent_tool_calls (session_id, turn_number, iteration, position);

CREATE TABLE agent_events (
  session_id TEXT NOT NULL REFERENCES agent_sessions (id) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  turn_number INTEGER NOT NULL,
  type TEXT NOT NULL,
  -- Its other fields (JSON).
  fields TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (session_id, seq)
) STRICT, WITHOUT ROWID;

-- Words that join a turn at its next step.
CREATE TABLE agent_steers (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL REFERENCES agent_sessions (id) ON DELETE CASCADE,
  role TEXT NOT NULL CHECK (role IN ('user', 'system')),
  content TEXT NOT NULL
) STRICT;

CREATE INDEX agent_steers_of ON agent_steers (session_id);

-- Agents that agents have started. The root of a tree is a session that people began.
CREATE TABLE agent_spawns (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  tree_id TEXT NOT NULL,
  parent_id TEXT REFERENCES agent_spawns (id) ON DELETE CASCADE,
  session_id TEXT NOT NULL UNIQUE REFERENCES agent_sessions (id) ON DELETE CASCADE,
  -- The call that began it; absent at the root.
  call_id TEXT UNIQUE,
  depth INTEGER NOT NULL,
  task TEXT NOT NULL,
  -- Its result is told to its parent when it is there.
  is_job INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX agent_spawns_of ON agent_spawns (tenant, tree_id);
CREATE INDEX agent_spawns_under ON agent_spawns (parent_id);
