import { type Clock, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../../../src/kit/time.ts';

interface Record {
  failures: number;
  lastAt: number;
  blockedUntil: number;
}

const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 5 * SECOND_MS;
/** Failures until a source is blocked, and again after each block. */
const FAILURES_A_BLOCK = 10;
const FIRST_BLOCK_MS = MINUTE_MS;
const LONGEST_BLOCK_MS = HOUR_MS;
/** Failures are forgotten when there was none for this long. */
const QUIET_MS = 15 * MINUTE_MS;
/** Sources that are remembered; the one that was quiet longest is forgotten first. */
const MOST_SOURCES = 10_000;

/** Slows down whoever guesses, by source: longer and longer answers, then no entry for a time. In memory, bounded. */
export class Penalties {
  private readonly records = new Map<string, Record>();

  constructor(private readonly clock: Clock) {}

  get size(): number {
    return this.records.size;
  }

  /** Counts a failure and says how long its answer has to wait, in milliseconds. */
  fail(source: string): number {
    const now = this.clock.now();
    const record = this.recordOf(source, now);
    record.failures++;
    record.lastAt = now;
    const blocks = Math.floor(record.failures / FAILURES_A_BLOCK);
    if (record.failures % FAILURES_A_BLOCK === 0)
      record.blockedUntil = now + Math.min(FIRST_BLOCK_MS * 2 ** (blocks - 1), LONGEST_BLOCK_MS);
    return Math.min(FIRST_DELAY_MS * 2 ** (record.failures - 1), LONGEST_DELAY_MS);
  }

  /** Whether a source may not connect now. */
  isBlocked(source: string): boolean {
    return (this.records.get(source)?.blockedUntil ?? 0) > this.clock.now();
  }

  /** The record of a source, moved to the young end; a fresh one after a quiet time. */
  private recordOf(source: string, now: number): Record {
    const known = this.records.get(source);
    const isStale = known && now - Math.max(known.lastAt, known.blockedUntil) > QUIET_MS;
    const record = known && !isStale ? known : { failures: 0, lastAt: now, blockedUntil: 0 };
    this.records.delete(source);
    this.records.set(source, record);
    const [oldest] = this.records.keys();
    if (this.records.size > MOST_SOURCES && oldest !== undefined) this.records.delete(oldest);
    return record;
  }
}

/** What counts as one source: an IPv4 address, or the /64 of an IPv6 one, which one customer has whole. */
export function sourceOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped) return mapped;
  if (!address.includes(':')) return address;
  const [head = '', tail = ''] = (address.split('%')[0] ?? '').toLowerCase().split('::');
  const groups = head === '' ? [] : head.split(':');
  const rest = tail === '' ? [] : tail.split(':');
  const zeros = address.includes('::')
    ? Array<string>(Math.max(8 - groups.length - rest.length, 0)).fill('0')
    : [];
  const all = [...groups, ...zeros, ...rest].map((group) => group.replace(/^0+(?=.)/, ''));
  return `${all.slice(0, 4).join(':')}::/64`;
}
