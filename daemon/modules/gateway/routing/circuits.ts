import { type Clock, MINUTE_MS, SECOND_MS } from '../../../../src/kit/time.ts';
import type { UpstreamError } from '../upstream/error.ts';

/** Failures in a row after which a key rests. */
const PATIENCE = 5;
const FIRST_REST_MS = 5 * SECOND_MS;
const LONGEST_REST_MS = 2 * MINUTE_MS;
const REFUSED_REST_MS = MINUTE_MS;
const LIMITED_REST_MS = SECOND_MS;
const MOST_KNOWN = 10_000;

interface Health {
  failures: number;
  restsUntil: number;
  open: number;
}

/**
 * What is known of the health of keys, in memory: a key that is limited, refused or fails again and again rests, and
 * others are asked first. A rest ends by time; the first answer ends it too.
 */
export class Circuits {
  private readonly known = new Map<string, Health>();

  constructor(private readonly clock: Clock) {}

  /** Whether a key is not to be asked while another one could be. */
  rests(id: string): boolean {
    return (this.known.get(id)?.restsUntil ?? 0) > this.clock.now();
  }

  /** Milliseconds until it may be asked again; 0 when it may. */
  restMs(id: string): number {
    return Math.max(0, (this.known.get(id)?.restsUntil ?? 0) - this.clock.now());
  }

  /** Calls that are under way. */
  load(id: string): number {
    return this.known.get(id)?.open ?? 0;
  }

  /** How many are known. */
  get size(): number {
    return this.known.size;
  }

  /** How many rest now. */
  get resting(): number {
    const now = this.clock.now();
    return this.known.values().reduce((sum, { restsUntil }) => sum + Number(restsUntil > now), 0);
  }

  /** Calls that are under way, of all of them. */
  get calls(): number {
    return this.known.values().reduce((sum, { open }) => sum + open, 0);
  }

  /** A call begins. */
  began(id: string): void {
    this.of(id).open++;
  }

  /** A call has ended, however it did. */
  ended(id: string): void {
    const health = this.of(id);
    health.open = Math.max(0, health.open - 1);
  }

  /** It has answered. */
  answered(id: string): void {
    const health = this.known.get(id);
    if (!health) return;
    health.failures = 0;
    health.restsUntil = 0;
  }

  /** It has failed. What is wrong with the request says nothing about the key. */
  failed(id: string, { kind, details }: UpstreamError): void {
    if (kind === 'request' || kind === 'address') return;
    const health = this.of(id);
    health.failures++;
    const rest = this.restAfter(kind, health.failures, details.retryAfterMs);
    if (rest > 0) health.restsUntil = Math.max(health.restsUntil, this.clock.now() + rest);
  }

  private restAfter(kind: UpstreamError['kind'], failures: number, asked = 0): number {
    if (kind === 'key') return REFUSED_REST_MS;
    if (kind === 'rate_limit') return Math.min(asked || LIMITED_REST_MS, LONGEST_REST_MS);
    if (failures < PATIENCE) return 0;
    return Math.min(FIRST_REST_MS * 2 ** (failures - PATIENCE), LONGEST_REST_MS);
  }

  private of(id: string): Health {
    let health = this.known.get(id);
    if (!health) {
      this.makeRoom();
      health = { failures: 0, restsUntil: 0, open: 0 };
      this.known.set(id, health);
    }
    return health;
  }

  private makeRoom(): void {
    if (this.known.size < MOST_KNOWN) return;
    for (const [id, { open }] of this.known) if (open === 0) return void this.known.delete(id);
  }
}
