-- What agents remember. Each tenant with memories has a full-text index of its own, agent_memory_words_<seq of its book>,
-- which is made with the book.
CREATE TABLE agent_memory_books (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant TEXT NOT NULL UNIQUE,
  -- Memories of the tenant, those that are retired too.
  count INTEGER NOT NULL
) STRICT;

-- Memories that are shared by the same ones: those of an agent, of a user, or of the tenant (owner is empty then).
CREATE TABLE agent_memory_shelves (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant TEXT NOT NULL,
  scope TEXT NOT NULL CHECK (scope IN ('agent', 'user', 'global')),
  owner TEXT NOT NULL,
  UNIQUE (tenant, scope, owner)
) STRICT;

CREATE TABLE agent_memories (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  tenant TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  -- Who has said it or had it kept: a person, or a key.
  user_id TEXT NOT NULL,
  shelf INTEGER NOT NULL REFERENCES agent_memory_shelves (seq),
  scope TEXT NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('fact', 'instruction', 'session_summary', 'document')),
  content TEXT NOT NULL,
  -- SHA-256 of the normalised content.
  digest TEXT NOT NULL,
  -- Empty when there is none.
  fact_key TEXT NOT NULL,
  confidence REAL NOT NULL,
  source TEXT NOT NULL,
  session_id TEXT,
  turn_number INTEGER,
  access_count INTEGER NOT NULL,
  last_accessed_at INTEGER,
  active INTEGER NOT NULL,
  superseded_by TEXT,
  -- The model of its vector; empty when it has none.
  vector_model TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

-- A fact has one valid version in a shelf, whatever happens at the same time.
CREATE UNIQUE INDEX agent_memories_by_key ON agent_memories (shelf, fact_key) WHERE active = 1 AND fact_key <> '';
CREATE INDEX agent_memories_by_text ON agent_memories (shelf, digest) WHERE active = 1;
CREATE INDEX agent_memories_by_type ON agent_memories (shelf, type) WHERE active = 1;
-- All that lists are filtered by, so that counting reads the index alone.
CREATE INDEX agent_memories_by_agent ON agent_memories (tenant, agent_id, seq, scope, user_id, type, active);
CREATE INDEX agent_memories_by_shelf ON agent_memories (shelf, seq);
CREATE INDEX agent_memories_by_model ON agent_memories (tenant, vector_model) WHERE active = 1;
CREATE INDEX agent_memories_retired ON agent_memories (tenant, updated_at) WHERE active = 0;

-- Vectors that can be compared: those of one shelf, by one model, of one length.
CREATE TABLE agent_memory_spaces (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  shelf INTEGER NOT NULL REFERENCES agent_memory_shelves (seq),
  model TEXT NOT NULL,
  dimension INTEGER NOT NULL,
  UNIQUE (shelf, model, dimension)
) STRICT;

CREATE TABLE agent_memory_vectors (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  space INTEGER NOT NULL REFERENCES agent_memory_spaces (seq),
  memory INTEGER NOT NULL UNIQUE REFERENCES agent_memories (seq) ON DELETE CASCADE,
  -- Little-endian 32-bit floats.
  vector BLOB NOT NULL
) STRICT;

CREATE INDEX agent_memory_vectors_by_space ON agent_memory_vectors (space, seq);

-- Calls of tools that have stored something, so that none does it twice.
CREATE TABLE agent_memory_calls (
  tenant TEXT NOT NULL,
  call_id TEXT NOT NULL,
  memory TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, call_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX agent_memory_calls_by_time ON agent_memory_calls (created_at);

-- Turns that are learned from, each once.
CREATE TABLE agent_memory_lessons (
  tenant TEXT NOT NULL,
  session_id TEXT NOT NULL,
  turn_number INTEGER NOT NULL,
  agent_id TEXT NOT NULL,
  model TEXT NOT NULL,
  scope TEXT NOT NULL,
  -- JSON: by whose right the model is asked.
  caller TEXT NOT NULL,
  -- What the user has said; empty as soon as it is over.
  input TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'learned', 'failed')),
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, session_id, turn_number)
) STRICT, WITHOUT ROWID;

CREATE INDEX agent_memory_lessons_by_time ON agent_memory_lessons (created_at);
