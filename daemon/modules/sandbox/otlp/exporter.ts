import { SECOND_MS } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import type { SandboxEvents } from '../history/events.ts';
import type { LifecycleService } from '../lifecycle/service.ts';
import { otherWork } from '../metrics/other-work.ts';
import type { Sample } from '../metrics/sampler.ts';
import { Lane, type Tally } from './lane.ts';
import type { ResourceSpans, Span } from './messages.ts';
import { toResourceMetrics } from './metrics.ts';
import { send } from './sender.ts';
import type { Destination, OtlpSettingsService } from './settings.ts';
import { toResourceSpans, toSpan } from './spans.ts';

/** Sandboxes of one request, and of one turn of the event loop. */
const AT_ONCE = 25;
/** How long events wait for others to travel with. */
const GATHER_MS = 5 * SECOND_MS;
/** Most events that wait to become spans, for one tenant. */
const MAX_EVENTS = 2_048;
/** What is left at a stop has so long to leave. */
const GRACE_MS = 2 * SECOND_MS;

/** One tenant's export: where to, its lane, and the events that are not spans yet. */
interface Export {
  destination: Destination;
  readonly lane: Lane;
  events: number[];
}

/**
 * Sends what sandboxes use, and what happened to them, to the receivers that tenants name. Nothing waits for it:
 * it reads what is there anyway, and what a receiver does not take in time is dropped and counted.
 */
export class OtlpExporter {
  readonly tally: Tally = { sent: 0, dropped: 0 };
  private readonly exports = new Map<string, Export>();
  private timer: Timer | undefined;
  private readonly closing = new Set<Promise<void>>();

  constructor(
    private readonly app: App,
    private readonly lifecycle: LifecycleService,
    private readonly events: SandboxEvents,
    private readonly settings: OtlpSettingsService,
  ) {
    settings.onChange((tenant) => this.refresh(tenant));
    app.bus.on('sandbox.event', ({ tenant, eventId }) => this.note(tenant, eventId));
  }

  start(): void {
    for (const tenant of this.settings.enabledTenants()) {
      try {
        this.refresh(tenant);
      } catch (error) {
        this.app.log.warn('figures are not exported: the settings cannot be read', { tenant, error });
      }
    }
  }

  async stop(): Promise<void> {
    clearTimeout(this.timer);
    await this.flush();
    for (const { lane } of this.exports.values()) this.close(lane, GRACE_MS);
    this.exports.clear();
    await Promise.all(this.closing);
  }

  /** Sends the samples of a round, each to its tenant's receiver. */
  async exportSamples(samples: readonly Sample[]): Promise<void> {
    if (this.exports.size === 0) return;
    const { encodeMetrics } = await import('./codec.ts');
    const byTenant = Map.groupBy(samples, ({ row }) => row.tenant);
    for (const [tenant, exported] of this.exports) {
      const mine = byTenant.get(tenant) ?? [];
      for (let i = 0; i < mine.length; i += AT_ONCE) {
        const some = mine.slice(i, i + AT_ONCE);
        const body = encodeMetrics(
          some.map((sample) => toResourceMetrics(sample, exported.destination.labels)),
        );
        exported.lane.add({ signal: 'metrics', body, items: some.length, madeAt: performance.now() });
        await otherWork();
      }
    }
  }

  private refresh(tenant: string): void {
    const destination = this.settings.destination(tenant);
    const known = this.exports.get(tenant);
    if (destination?.enabled && known) {
      known.destination = destination;
      known.lane.retry();
    } else if (destination?.enabled) this.exports.set(tenant, this.open(tenant, destination));
    else if (known) {
      this.exports.delete(tenant);
      this.close(known.lane, 0);
    }
  }

  private close(lane: Lane, graceMs: number): void {
    const closed = lane.close(graceMs).finally(() => this.closing.delete(closed));
    this.closing.add(closed);
  }

  private open(tenant: string, destination: Destination): Export {
    const exported: Export = {
      destination,
      events: [],
      lane: new Lane(
        tenant,
        (batch, stop) => send(this.app.outbound, exported.destination, batch.signal, batch.body, stop),
        this.tally,
        this.app.log,
      ),
    };
    return exported;
  }

  private note(tenant: string, eventId: number): void {
    const exported = this.exports.get(tenant);
    if (!exported) return;
    exported.events.push(eventId);
    if (exported.events.length > MAX_EVENTS) {
      exported.events.shift();
      this.tally.dropped++;
    }
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.flush().catch((error) => this.app.log.error('spans could not be made', { error }));
    }, GATHER_MS);
  }

  private async flush(): Promise<void> {
    const { encodeSpans } = await import('./codec.ts');
    for (const [tenant, exported] of this.exports) {
      const ids = exported.events;
      exported.events = [];
      for (let i = 0; i < ids.length; i += AT_ONCE) {
        const spans = this.spansOf(tenant, ids.slice(i, i + AT_ONCE), exported.destination);
        const items = spans.reduce((sum, { scopeSpans }) => sum + (scopeSpans[0]?.spans.length ?? 0), 0);
        if (items > 0)
          exported.lane.add({ signal: 'traces', body: encodeSpans(spans), items, madeAt: performance.now() });
        await otherWork();
      }
    }
  }

  /** The spans of events, by the sandbox that they happened to. */
  private spansOf(tenant: string, ids: readonly number[], { labels }: Destination): ResourceSpans[] {
    const bySandbox = new Map<string, Span[]>();
    for (const id of ids) {
      const event = this.events.find(tenant, id);
      const span = event && toSpan(event, this.events);
      if (span) bySandbox.set(event.sandboxId, [...(bySandbox.get(event.sandboxId) ?? []), span]);
    }
    return [...bySandbox].flatMap(([id, spans]) => {
      const row = this.lifecycle.store.find(tenant, id);
      return row ? [toResourceSpans(row, spans, labels)] : [];
    });
  }
}
