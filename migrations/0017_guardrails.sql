-- What tenants have given for their guardrails. `given` is JSON; what is not in it follows the instance.
CREATE TABLE guardrails (
  tenant TEXT PRIMARY KEY,
  given TEXT NOT NULL CHECK (json_valid(given)),
  version INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
