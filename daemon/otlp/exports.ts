import { SECOND_MS } from '../../src/kit/time.ts';
import type { App } from '../app.ts';
import type { Destination } from './destination.ts';
import { type Batch, Lane, type Tally } from './lane.ts';
import { send } from './sender.ts';

/** How items become requests. */
export interface Pace {
  /** How long items wait for others to travel with. */
  readonly gatherMs: number;
  /** Most items that wait for that, for one tenant; half of them do not wait any longer. */
  readonly most: number;
  /** Items of one request, and of one turn of the event loop. */
  readonly atOnce: number;
}

const SLOW: Pace = { gatherMs: 5 * SECOND_MS, most: 2_048, atOnce: 25 };
/** What is left at a stop has so long to leave. */
const GRACE_MS = 2 * SECOND_MS;

/** A request that was made and is not dated yet. */
export type Made = Omit<Batch, 'madeAt'>;

/** Makes a request of items of one tenant; undefined when nothing of them is to be told. */
export type Maker<Item> = (
  tenant: string,
  items: readonly Item[],
  destination: Destination,
) => Promise<Made | undefined>;

/** One tenant's export: where to, its lane, and the items that are no request yet. */
interface Export<Item> {
  destination: Destination;
  readonly lane: Lane;
  items: Item[];
}

/**
 * Takes what tenants' receivers are to be told: gathers items, makes requests of them and sends each tenant's in a lane
 * of its own. Nothing waits for it; what a receiver does not take in time is dropped and counted.
 */
export class Exports<Item> {
  readonly tally: Tally = { sent: 0, dropped: 0 };
  private readonly exports = new Map<string, Export<Item>>();
  private readonly closing = new Set<Promise<void>>();
  private timer: Timer | undefined;
  private flushing: Promise<void> | undefined;

  constructor(
    private readonly app: Pick<App, 'outbound' | 'log'>,
    private readonly make: Maker<Item>,
    private readonly pace: Pace = SLOW,
  ) {}

  /** The tenants that have a destination, with it. */
  *destinations(): Generator<readonly [tenant: string, destination: Destination]> {
    for (const [tenant, { destination }] of this.exports) yield [tenant, destination];
  }

  /** Whether a tenant has a destination. */
  has(tenant: string): boolean {
    return this.exports.has(tenant);
  }

  /** Sends a tenant's figures there from now on; undefined sends them nowhere. */
  point(tenant: string, destination: Destination | undefined): void {
    const known = this.exports.get(tenant);
    if (destination && known) {
      known.destination = destination;
      known.lane.retry();
    } else if (destination) this.exports.set(tenant, this.open(tenant, destination));
    else if (known) {
      this.exports.delete(tenant);
      this.tally.dropped += known.items.length;
      this.close(known.lane, 0);
    }
  }

  /** Takes an item that waits for others; of too many the oldest is dropped. Without a destination it is nothing. */
  note(tenant: string, item: Item): void {
    const exported = this.exports.get(tenant);
    if (!exported) return;
    const waiting = exported.items.push(item);
    if (waiting > this.pace.most) {
      exported.items.shift();
      this.tally.dropped++;
    }
    if (waiting === this.pace.most / 2) void this.flush();
    else this.timer ??= setTimeout(() => void this.flush(), this.pace.gatherMs);
  }

  /** Takes a request that is ready. Without a destination it is nothing. */
  send(tenant: string, made: Made): void {
    this.exports.get(tenant)?.lane.add({ ...made, madeAt: performance.now() });
  }

  /** Sends what waits, as far as receivers take it at once. */
  async stop(): Promise<void> {
    await this.flushing;
    await this.flush();
    clearTimeout(this.timer);
    for (const { lane } of this.exports.values()) this.close(lane, GRACE_MS);
    this.exports.clear();
    await Promise.all(this.closing);
  }

  /** Makes requests of what waits; one flush at a time. */
  private flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.flushing ??= this.makeAll().finally(() => {
      this.flushing = undefined;
      if (this.exports.values().some(({ items }) => items.length > 0))
        this.timer ??= setTimeout(() => void this.flush(), this.pace.gatherMs);
    });
    return this.flushing;
  }

  private async makeAll(): Promise<void> {
    for (const [tenant, exported] of this.exports) {
      const { items } = exported;
      exported.items = [];
      for (let i = 0; i < items.length; i += this.pace.atOnce) {
        await this.makeOne(tenant, items.slice(i, i + this.pace.atOnce), exported);
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
  }

  private async makeOne(
    tenant: string,
    items: readonly Item[],
    { destination, lane }: Export<Item>,
  ): Promise<void> {
    try {
      const made = await this.make(tenant, items, destination);
      if (made) lane.add({ ...made, madeAt: performance.now() });
    } catch (error) {
      this.tally.dropped += items.length;
      this.app.log.error('figures could not be made', { tenant, error });
    }
  }

  private open(tenant: string, destination: Destination): Export<Item> {
    const exported: Export<Item> = {
      destination,
      items: [],
      lane: new Lane(
        tenant,
        ({ signal, body }, stop) => send(this.app.outbound, exported.destination, signal, body, stop),
        this.tally,
        this.app.log,
      ),
    };
    return exported;
  }

  private close(lane: Lane, graceMs: number): void {
    const closed = lane.close(graceMs).finally(() => this.closing.delete(closed));
    this.closing.add(closed);
  }
}
