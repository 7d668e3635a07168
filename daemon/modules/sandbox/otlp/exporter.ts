import type { App } from '../../../app.ts';
import { Exports, type Made } from '../../../otlp/exports.ts';
import type { Tally } from '../../../otlp/lane.ts';
import type { ResourceSpans, Span } from '../../../otlp/messages.ts';
import type { SandboxEvents } from '../history/events.ts';
import type { LifecycleService } from '../lifecycle/service.ts';
import { otherWork } from '../metrics/other-work.ts';
import type { Sample } from '../metrics/sampler.ts';
import { toResourceMetrics } from './metrics.ts';
import type { OtlpSettingsService } from './settings.ts';
import { toResourceSpans, toSpan } from './spans.ts';

/** Sandboxes of one request, and of one turn of the event loop. */
const AT_ONCE = 25;

/** Sends what sandboxes use, and what happened to them, to the receivers that tenants name: it reads what is there anyway. */
export class OtlpExporter {
  private readonly exports: Exports<number>;

  constructor(
    private readonly app: App,
    private readonly lifecycle: LifecycleService,
    private readonly events: SandboxEvents,
    private readonly settings: OtlpSettingsService,
  ) {
    this.exports = new Exports(app, (tenant, ids, { labels }) => this.requestOf(tenant, ids, labels));
    settings.onChange((tenant) => this.refresh(tenant));
    app.bus.on('sandbox.event', ({ tenant, eventId }) => this.exports.note(tenant, eventId));
  }

  get tally(): Readonly<Tally> {
    return this.exports.tally;
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

  stop(): Promise<void> {
    return this.exports.stop();
  }

  /** Sends the samples of a round, each to its tenant's receiver. */
  async exportSamples(samples: readonly Sample[]): Promise<void> {
    const destinations = [...this.exports.destinations()];
    if (destinations.length === 0) return;
    const { encodeMetrics } = await import('../../../otlp/codec.ts');
    const byTenant = Map.groupBy(samples, ({ row }) => row.tenant);
    for (const [tenant, { labels }] of destinations) {
      const mine = byTenant.get(tenant) ?? [];
      for (let i = 0; i < mine.length; i += AT_ONCE) {
        const some = mine.slice(i, i + AT_ONCE);
        const body = encodeMetrics(some.map((sample) => toResourceMetrics(sample, labels)));
        this.exports.send(tenant, { signal: 'metrics', body, items: some.length });
        await otherWork();
      }
    }
  }

  private refresh(tenant: string): void {
    const destination = this.settings.destination(tenant);
    this.exports.point(tenant, destination?.enabled ? destination : undefined);
  }

  private async requestOf(
    tenant: string,
    ids: readonly number[],
    labels: Readonly<Record<string, string>>,
  ): Promise<Made | undefined> {
    const { encodeSpans } = await import('../../../otlp/codec.ts');
    const spans = this.spansOf(tenant, ids, labels);
    const items = spans.reduce((sum, { scopeSpans }) => sum + (scopeSpans[0]?.spans.length ?? 0), 0);
    return items === 0 ? undefined : { signal: 'traces', body: encodeSpans(spans), items };
  }

  /** The spans of events, by the sandbox that they happened to. */
  private spansOf(
    tenant: string,
    ids: readonly number[],
    labels: Readonly<Record<string, string>>,
  ): ResourceSpans[] {
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
