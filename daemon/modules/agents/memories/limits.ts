const MB = 1024 * 1024;

/** What a tenant may ask of the memory of its agents. Each is named in the 400 or 429 that refuses more. */
export const LIMITS = {
  /** Of a tenant, those that are retired too; at the bound the oldest of these make room. */
  memories: 100_000,
  /** Characters. */
  contentLength: 8_000,
  factKeyLength: 128,
  queryLength: 16_384,
  topK: 50,
  /** What is learned from one turn. */
  factsATurn: 20,
  /** Characters of what a user says that are learned from: the beginning and the end of more. */
  lessonLength: 16_000,
  /** What is kept of vectors in memory, in bytes. */
  vectorCacheBytes: 128 * MB,
} as const;
