-- Providers of models as tenants have set them up, over those of the instance's own configuration.

CREATE TABLE provider_configs (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  -- Of names that the catalog does not have; empty for the others.
  dialect TEXT NOT NULL,
  -- Empty when it is the catalog's.
  base_url TEXT NOT NULL,
  models TEXT NOT NULL,
  settings TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  -- When it was written to providers.yaml or read from it.
  synced_at INTEGER,
  UNIQUE (tenant, name)
) STRICT;

-- A key is sealed, or is the name of a variable of the environment.
CREATE TABLE provider_keys (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  config_id TEXT NOT NULL REFERENCES provider_configs (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  sealed TEXT,
  variable TEXT,
  weight INTEGER NOT NULL CHECK (weight >= 1),
  is_active INTEGER NOT NULL,
  source TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (config_id, name),
  CHECK ((sealed IS NULL) <> (variable IS NULL))
) STRICT;

-- Weights and switches of the keys that the instance's configuration has.
CREATE TABLE provider_key_switches (
  tenant TEXT NOT NULL,
  key_id TEXT NOT NULL,
  weight INTEGER NOT NULL CHECK (weight >= 1),
  is_active INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, key_id)
) STRICT;

CREATE TABLE provider_uses (
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  last_used_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, name)
) STRICT;
