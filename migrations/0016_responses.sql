-- Responses that callers may come back to, and what went into and came out of each.

CREATE TABLE responses (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled')),
  background INTEGER NOT NULL,
  -- The response that this one goes on from.
  previous_id TEXT,
  -- Who has answered; empty when nobody has.
  provider TEXT NOT NULL,
  -- The response without its output.
  body TEXT NOT NULL,
  -- What is needed to run it: of one in the background that has not ended.
  run TEXT,
  -- The events of one in the background that has ended: lines of JSON, compressed (zstd).
  events BLOB,
  created_at INTEGER NOT NULL,
  -- When it was last written or gone on from; it is forgotten by this.
  used_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, id)
) STRICT;

CREATE INDEX responses_by_use ON responses (used_at);
CREATE INDEX responses_unfinished ON responses (status) WHERE run IS NOT NULL;

CREATE TABLE response_items (
  tenant TEXT NOT NULL,
  response_id TEXT NOT NULL,
  side TEXT NOT NULL CHECK (side IN ('input', 'output')),
  position INTEGER NOT NULL,
  id TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (tenant, response_id, side, position),
  FOREIGN KEY (tenant, response_id) REFERENCES responses (tenant, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX response_items_by_id ON response_items (tenant, id);
