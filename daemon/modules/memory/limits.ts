const MB = 1024 * 1024;

/** What a tenant may ask of memory. Each is named in the 400 or 429 that refuses more. */
export const LIMITS = {
  collections: 1000,
  documentsACall: 1000,
  chunksACall: 5000,
  chunksACollection: 100_000,
  /** Calls of a tenant that add documents at the same time. */
  addsAtOnce: 8,
  idLength: 128,
  sourceLength: 2048,
  descriptionLength: 4096,
  metadataNames: 32,
  metadataNameLength: 128,
  metadataValueLength: 1024,
  queryLength: 16_384,
  topK: 100,
  dimension: 4096,
  /** Characters of a chunk. */
  smallestChunk: 50,
  largestChunk: 8000,
  usualChunk: 1000,
  /** What is kept of vectors in memory, in bytes. */
  vectorCacheBytes: 256 * MB,
} as const;
