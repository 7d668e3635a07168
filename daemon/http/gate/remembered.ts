/** Settings are read again after this long, so that a change holds without a restart. */
const KEPT_MS = 1_000;

/**
 * Calls `read` at most once a second, or when `key` has changed, and answers what it gave. For what
 * every request asks and seldom changes.
 */
export function remembered<T>(read: () => T, key: () => unknown = () => undefined): () => T {
  let value: T;
  let readFor: unknown;
  let readAt = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    const wanted = key();
    if (now - readAt > KEPT_MS || wanted !== readFor) {
      value = read();
      readFor = wanted;
      readAt = now;
    }
    return value;
  };
}
