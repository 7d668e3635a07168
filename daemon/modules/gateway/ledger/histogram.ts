/** Each bucket ends a tenth above the one before, so a quantile is within five percent. */
const GROWTH = 1.1;
const LOG_GROWTH = Math.log(GROWTH);
/** About nine hours. What took longer is in the last one. */
const LAST_BUCKET = 180;

/** How long things took: counts by bucket. Bucket 0 ends at one millisecond. Can be added up over days, as JSON. */
export type Histogram = Record<string, number>;

/** Counts a duration in milliseconds. */
export function observe(histogram: Histogram, ms: number): void {
  const bucket = bucketOf(ms);
  histogram[bucket] = (histogram[bucket] ?? 0) + 1;
}

/** Adds what another one has counted. */
export function addTo(histogram: Histogram, other: Histogram): void {
  for (const [bucket, count] of Object.entries(other)) histogram[bucket] = (histogram[bucket] ?? 0) + count;
}

/** The duration that the share `q` of all do not exceed, in milliseconds; undefined when there are none. */
export function quantileOf(histogram: Histogram, q: number): number | undefined {
  const buckets = Object.entries(histogram)
    .map(([bucket, count]) => [Number(bucket), count] as const)
    .sort(([a], [b]) => a - b);
  const total = buckets.reduce((sum, [, count]) => sum + count, 0);
  if (total === 0) return undefined;
  let seen = 0;
  for (const [bucket, count] of buckets) {
    seen += count;
    if (seen >= total * q) return middleOf(bucket);
  }
  return undefined;
}

function bucketOf(ms: number): number {
  if (!(ms > 1)) return 0;
  return Math.min(Math.ceil(Math.log(ms) / LOG_GROWTH), LAST_BUCKET);
}

/** The middle of a bucket by ratio. */
function middleOf(bucket: number): number {
  return bucket === 0 ? 1 : GROWTH ** (bucket - 0.5);
}
