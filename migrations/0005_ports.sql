-- Ports of sandboxes that have an address of their own.

CREATE TABLE sandbox_ports (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant TEXT NOT NULL,
  sandbox_id TEXT NOT NULL,
  port INTEGER NOT NULL,
  protocol TEXT NOT NULL,
  exposed INTEGER NOT NULL,
  wake_command TEXT,
  nonce TEXT NOT NULL,
  token_hash TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX sandbox_ports_port ON sandbox_ports (sandbox_id, port);
CREATE UNIQUE INDEX sandbox_ports_token ON sandbox_ports (token_hash);
