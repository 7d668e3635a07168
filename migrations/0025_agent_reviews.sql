-- Calls of tools that wait for a person. Until it is settled, a review is pending; then it stays as it is.

CREATE TABLE agent_reviews (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  session_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  turn_number INTEGER NOT NULL,
  iteration INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'denied', 'expired', 'cancelled')),
  -- JSON: id, name, arguments, hash and badges of each call. Never changed.
  calls TEXT NOT NULL,
  -- JSON: what was decided about each call, with the hash that it was decided for.
  decisions TEXT NOT NULL,
  default_action TEXT NOT NULL CHECK (default_action IN ('approve', 'deny')),
  note TEXT NOT NULL,
  requested_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  resolved_at INTEGER,
  -- Who it was, as the gate has proven; `system` when time or a cancelled turn has ended it.
  resolved_by TEXT NOT NULL,
  -- The name that came with the decision: shown, never believed.
  reviewer TEXT NOT NULL,
  resolution_reason TEXT NOT NULL,
  CHECK ((status = 'pending') = (resolved_at IS NULL))
) STRICT;

-- The queue: what is pending first, what expires soonest at its head; then the rest, newest first.
CREATE INDEX agent_reviews_queue ON agent_reviews (
  tenant,
  (status <> 'pending'),
  (CASE status WHEN 'pending' THEN expires_at ELSE -requested_at END)
);
CREATE INDEX agent_reviews_of_session ON agent_reviews (tenant, session_id, status);
CREATE INDEX agent_reviews_due ON agent_reviews (expires_at) WHERE status = 'pending';
CREATE INDEX agent_reviews_settled ON agent_reviews (resolved_at) WHERE resolved_at IS NOT NULL;
