-- Where each tenant's metrics and traces are sent. The values of headers are sealed.

CREATE TABLE otlp_settings (
  tenant TEXT PRIMARY KEY,
  endpoint TEXT NOT NULL,
  headers TEXT NOT NULL,
  extra_labels TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

-- Streams of all events of a tenant go on after an id.
CREATE INDEX sandbox_events_tenant ON sandbox_events (tenant, id);
