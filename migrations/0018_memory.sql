-- Collections of documents. Each has a full-text index of its own, memory_words_<seq>, which is made with it.
CREATE TABLE memory_collections (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  embedding_model TEXT NOT NULL,
  dimension INTEGER NOT NULL,
  asks_dimension INTEGER NOT NULL,
  distance TEXT NOT NULL,
  metadata TEXT NOT NULL,
  document_count INTEGER NOT NULL,
  chunk_count INTEGER NOT NULL,
  state TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX memory_collections_by_name ON memory_collections (tenant, name) WHERE state = 'live';
CREATE INDEX memory_collections_dead ON memory_collections (seq) WHERE state = 'dead';

CREATE TABLE memory_documents (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant TEXT NOT NULL,
  collection INTEGER NOT NULL REFERENCES memory_collections (seq),
  id TEXT NOT NULL,
  digest TEXT NOT NULL,
  source TEXT NOT NULL,
  metadata TEXT NOT NULL,
  chunk_count INTEGER NOT NULL,
  state TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX memory_documents_by_id ON memory_documents (collection, id) WHERE state = 'live';
CREATE INDEX memory_documents_by_collection ON memory_documents (collection);
CREATE INDEX memory_documents_hidden ON memory_documents (collection, state) WHERE state <> 'live';

CREATE TABLE memory_chunks (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  collection INTEGER NOT NULL,
  document INTEGER NOT NULL REFERENCES memory_documents (seq),
  position INTEGER NOT NULL,
  text TEXT NOT NULL,
  vector BLOB
) STRICT;

CREATE INDEX memory_chunks_by_collection ON memory_chunks (collection, seq);
CREATE INDEX memory_chunks_by_document ON memory_chunks (document);

-- Metadata of documents, to filter by.
CREATE TABLE memory_labels (
  collection INTEGER NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  document INTEGER NOT NULL REFERENCES memory_documents (seq),
  PRIMARY KEY (collection, name, value, document)
) STRICT, WITHOUT ROWID;

CREATE INDEX memory_labels_by_document ON memory_labels (document);

-- How memory was used, by the hour.
CREATE TABLE memory_uses (
  tenant TEXT NOT NULL,
  hour INTEGER NOT NULL,
  collection TEXT NOT NULL,
  kind TEXT NOT NULL,
  count INTEGER NOT NULL,
  errors INTEGER NOT NULL,
  total_ms REAL NOT NULL,
  PRIMARY KEY (tenant, hour, collection, kind)
) STRICT, WITHOUT ROWID;
