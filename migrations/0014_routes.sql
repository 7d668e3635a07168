-- Names of a tenant's own for models: aliases and fallback chains. `targets` is JSON.
CREATE TABLE model_routes (
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  strategy TEXT NOT NULL,
  targets TEXT NOT NULL CHECK (json_valid(targets)),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, name)
) STRICT, WITHOUT ROWID;
