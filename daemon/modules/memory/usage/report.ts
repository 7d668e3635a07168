import { invalid } from '../../../../src/errors/app-error.ts';
import { DAY_MS, HOUR_MS, rfc3339 } from '../../../../src/kit/time.ts';
import type { UseRow } from '../tables.ts';

/** A span of time, in whole hours, and the length of its buckets. Milliseconds. */
export interface Span {
  readonly from: number;
  /** Not in it. */
  readonly to: number;
  readonly bucketMs: number;
}

const LONGEST_BY_HOURS_MS = 7 * DAY_MS;
const LONGEST_DAYS = 366;
const TOP_COLLECTIONS = 10;
const KIND_COUNTS = { query: 'queryCount', store: 'storeCount', delete: 'deleteCount' } as const;

/**
 * The span that is asked for: the last 24 hours when nothing is. Buckets are hours up to a week, else days of UTC. Errors:
 * invalid_argument naming the field.
 */
export function spanOf({ from = '', to = '' }: { from?: string; to?: string }, now: number): Span {
  const end = to === '' ? now + 1 : instant('to', to);
  const start = from === '' ? end - DAY_MS : instant('from', from);
  if (start >= end) throw invalid({ field: 'from', description: 'must be before to' });
  if (end - start > LONGEST_DAYS * DAY_MS)
    throw invalid({ field: 'from', description: `may be at most ${LONGEST_DAYS} days before to` });
  const bucketMs = end - start <= LONGEST_BY_HOURS_MS ? HOUR_MS : DAY_MS;
  return {
    from: Math.floor(start / bucketMs) * bucketMs,
    to: Math.ceil(end / bucketMs) * bucketMs,
    bucketMs,
  };
}

/** The uses of a span: one bucket after the other, also where nothing was, and their sums. */
export function reportOf({ from, to, bucketMs }: Span, rows: readonly UseRow[]) {
  const buckets = Array.from({ length: Math.round((to - from) / bucketMs) }, (_, i) => ({
    timestamp: rfc3339(from + i * bucketMs),
    queryCount: 0,
    storeCount: 0,
    deleteCount: 0,
    errorCount: 0,
    totalMs: 0,
  }));
  const requests = new Map<string, number>();
  for (const { hour, collection, kind, count, errors, totalMs } of rows) {
    const bucket = buckets[Math.floor((hour - from) / bucketMs)];
    if (!bucket) continue;
    bucket[KIND_COUNTS[kind]] += count;
    bucket.errorCount += errors;
    bucket.totalMs += totalMs;
    if (collection !== '') requests.set(collection, (requests.get(collection) ?? 0) + count);
  }
  const sum = (read: (row: UseRow) => number) => rows.reduce((total, row) => total + read(row), 0);
  const totalRequests = sum(({ count }) => count);
  return {
    buckets: buckets.map(({ totalMs, ...bucket }) => ({
      ...bucket,
      avgLatencyMs: mean(totalMs, bucket.queryCount + bucket.storeCount + bucket.deleteCount),
    })),
    totalRequests,
    totalErrors: sum(({ errors }) => errors),
    avgLatencyMs: mean(
      sum(({ totalMs }) => totalMs),
      totalRequests,
    ),
    topCollections: [...requests]
      .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
      .slice(0, TOP_COLLECTIONS)
      .map(([collectionName, requestCount]) => ({ collectionName, requestCount })),
  };
}

function mean(total: number, count: number): number {
  return count > 0 ? Math.round((total / count) * 1000) / 1000 : 0;
}

function instant(field: string, text: string): number {
  const ms = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) throw invalid({ field, description: 'must be a time such as 2026-01-31T09:00:00Z' });
  return ms;
}
