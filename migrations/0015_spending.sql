-- What requests to models took and cost by day, and the budgets that they are held to.

-- Sums of the request log, which may be deleted. One row a day, caller, model and surface.
CREATE TABLE usage_totals (
  tenant TEXT NOT NULL,
  -- The beginning of a day in UTC.
  day_at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  -- Both are empty when nobody answered.
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  surface TEXT NOT NULL,
  requests INTEGER NOT NULL,
  errors INTEGER NOT NULL,
  stopped INTEGER NOT NULL,
  cache_hits INTEGER NOT NULL,
  estimated INTEGER NOT NULL,
  unpriced INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cached_input_tokens INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  reasoning_tokens INTEGER NOT NULL,
  cost_micros INTEGER NOT NULL,
  -- Histograms: counts by bucket, as JSON.
  durations TEXT NOT NULL,
  first_bytes TEXT NOT NULL,
  PRIMARY KEY (tenant, day_at, actor, provider, model, surface)
) STRICT, WITHOUT ROWID;

-- How far into which request log the sums reach.
CREATE TABLE usage_position (
  log_id TEXT PRIMARY KEY,
  seq INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE budgets (
  tenant TEXT NOT NULL,
  -- 'tenant', or the id of a key or a person.
  subject TEXT NOT NULL,
  day_micros INTEGER CHECK (day_micros >= 0),
  month_micros INTEGER CHECK (month_micros >= 0),
  total_micros INTEGER CHECK (total_micros >= 0),
  is_hard INTEGER NOT NULL,
  refuses_unpriced INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, subject)
) STRICT, WITHOUT ROWID;
