import { asAppError } from '../../../../src/errors/app-error.ts';
import { SECOND_MS } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import { signedHeaders } from '../../../outbound/signature.ts';
import type { LifecycleWebhookStore } from './store.ts';
import type { DeliveryRow } from './tables.ts';

/** When attempts are made, and for how long. */
export interface Pace {
  /** Time before each attempt, from the end of the one before it. */
  readonly delaysMs: readonly number[];
  /** A receiver answers within this time. */
  readonly timeoutMs: number;
}

/** The pace of the specification (Limits). */
const PACE: Pace = { delaysMs: [0, 5 * SECOND_MS, 30 * SECOND_MS], timeoutMs: 5 * SECOND_MS };

/** Deliveries under way: of the instance, and of one endpoint. */
const MOST_AT_ONCE = 128;
const MOST_OF_ONE = 8;
/** While no more than this wait for an endpoint, they go one after the other, which keeps their order. */
const IN_ORDER = 16;

/** Time between two looks over all endpoints: at most, and at least, since many may be due one after the other. */
const LONGEST_SLEEP_MS = 30 * SECOND_MS;
const SHORTEST_SLEEP_MS = 20;
/** Ended deliveries of an endpoint after which the old ones are forgotten. */
const PRUNE_EVERY = 50;
/** How long a stop waits for the answers of receivers. */
const STOP_MS = 2 * SECOND_MS;

interface Lane {
  readonly sending: Set<string>;
  ended: number;
}

interface Result {
  readonly responseStatus: number | null;
  readonly error: string | null;
}

/**
 * Sends what waits. Each endpoint has a lane of its own, so that a slow one does not hold up others. The rows are
 * the queue: an attempt counts when it has ended, so one that a crash cut off is made again.
 */
export class Dispatcher {
  private readonly lanes = new Map<string, Lane>();
  private readonly underway = new Map<string, Promise<void>>();
  private readonly leaving = new AbortController();
  /** Endpoints for which something was just written. */
  private readonly fresh = new Set<string>();
  /** Something was due that found no room. */
  private isStarved = false;
  private timer: Timer | undefined;
  private stopped = true;

  constructor(
    private readonly app: App,
    private readonly store: LifecycleWebhookStore,
    private readonly pace = PACE,
  ) {}

  start(): void {
    this.stopped = false;
    this.look();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    const ended = Promise.allSettled(this.underway.values());
    await Promise.race([ended, Bun.sleep(this.underway.size > 0 ? STOP_MS : 0)]);
    this.leaving.abort();
    await ended;
  }

  /** Something is being written for an endpoint: it is sent when that is done, not before. */
  expect(endpointId: string): void {
    if (this.fresh.size === 0) setTimeout(() => this.sendFresh(), 0);
    this.fresh.add(endpointId);
  }

  /** Sends a delivery at once, before what waits, and waits for the end of the attempt. */
  async sendNow(row: DeliveryRow): Promise<void> {
    if (this.stopped || this.underway.has(row.id)) return;
    this.send(row, this.laneOf(row.endpointId));
    await this.underway.get(row.id);
  }

  private sendFresh(): void {
    const endpoints = [...this.fresh];
    this.fresh.clear();
    if (!this.stopped) for (const id of endpoints) this.fill(id, this.app.clock.now());
  }

  private look(): void {
    if (this.stopped) return;
    const now = this.app.clock.now();
    const busy = (id: string) => this.lanes.get(id)?.sending.size ?? 0;
    const due = this.store.endpointsDue(now).sort((one, other) => busy(one) - busy(other));
    for (const endpointId of due) this.fill(endpointId, now);
    this.arm(now);
  }

  /** Looks again when something is due. */
  private arm(now: number): void {
    clearTimeout(this.timer);
    const next = (this.store.nextDue(now) ?? Number.POSITIVE_INFINITY) - now;
    this.timer = setTimeout(() => this.look(), Math.min(Math.max(next, SHORTEST_SLEEP_MS), LONGEST_SLEEP_MS));
  }

  /** Sends what an endpoint has room for. */
  private fill(endpointId: string, now: number): void {
    const lane = this.laneOf(endpointId);
    const waiting = this.store.countWaiting(endpointId, IN_ORDER * MOST_OF_ONE);
    const width = Math.min(Math.max(Math.ceil(waiting / IN_ORDER), 1), MOST_OF_ONE);
    const room = Math.min(width - lane.sending.size, MOST_AT_ONCE - this.underway.size);
    if (width > lane.sending.size && room <= 0) this.isStarved = true;
    if (room > 0)
      for (const row of this.store.due(endpointId, now, [...lane.sending], room)) this.send(row, lane);
    if (lane.sending.size === 0) this.lanes.delete(endpointId);
  }

  private laneOf(endpointId: string): Lane {
    const lane = this.lanes.get(endpointId) ?? { sending: new Set<string>(), ended: 0 };
    this.lanes.set(endpointId, lane);
    return lane;
  }

  private send(row: DeliveryRow, lane: Lane): void {
    lane.sending.add(row.id);
    const done = this.deliver(row).then(
      () => this.next(row, lane),
      // The row still waits. Another try is made at the next look, not at once: the disk may be full.
      (error) => {
        this.leave(row, lane);
        this.app.log.error('a delivery could not be written down', { delivery: row.id, error });
      },
    );
    this.underway.set(row.id, done);
  }

  private leave({ id }: DeliveryRow, lane: Lane): void {
    lane.sending.delete(id);
    this.underway.delete(id);
    lane.ended++;
  }

  /** Goes on after an attempt: with the same endpoint, and with others that found no room. */
  private next(row: DeliveryRow, lane: Lane): void {
    this.leave(row, lane);
    if (this.stopped) return;
    const now = this.app.clock.now();
    this.fill(row.endpointId, now);
    const isIdle = lane.sending.size === 0;
    if (isIdle || lane.ended % PRUNE_EVERY === 0) this.store.prune(row.tenant, row.endpointId);
    if (!this.isStarved) return;
    this.isStarved = false;
    this.look();
  }

  private async deliver(row: DeliveryRow): Promise<void> {
    const start = performance.now();
    const { responseStatus, error } = await this.attempt(row);
    if (this.leaving.signal.aborted) return;
    const now = this.app.clock.now();
    const attempts = row.attempts + 1;
    const ended = { attempts, responseStatus, error, durationMs: Math.round(performance.now() - start) };
    const delay = this.pace.delaysMs[attempts];
    const { tenant, id } = row;
    if (error === null)
      this.store.change(tenant, id, 'pending', { ...ended, status: 'delivered', deliveredAt: now });
    else if (attempts >= row.maxAttempts || delay === undefined)
      this.store.change(tenant, id, 'pending', { ...ended, status: 'failed' });
    else {
      this.store.change(tenant, id, 'pending', { ...ended, nextAttemptAt: now + delay });
      this.arm(now);
    }
  }

  private async attempt({ tenant, endpointId, id, body }: DeliveryRow): Promise<Result> {
    const endpoint = this.store.findEndpoint(tenant, endpointId);
    if (!endpoint) return { responseStatus: null, error: 'the endpoint was removed' };
    const signal = AbortSignal.any([AbortSignal.timeout(this.pace.timeoutMs), this.leaving.signal]);
    try {
      const secret = this.app.secrets.open(tenant, endpointId, endpoint.secret);
      const response = await this.app.outbound.fetch({
        url: endpoint.url,
        field: 'url',
        trust: 'tenant',
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...signedHeaders(secret, id, body, this.app.clock.now()),
        },
        body,
        signal,
      });
      await response.body?.cancel();
      const { ok, status } = response;
      return { responseStatus: status, error: ok ? null : `the receiver answered ${status}` };
    } catch (error) {
      return { responseStatus: null, error: asAppError(error).message };
    }
  }
}
