import { SECOND_MS } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import type { Destination, Receivers } from '../../../otlp/destination.ts';
import { Exports, type Made } from '../../../otlp/exports.ts';
import type { Tally } from '../../../otlp/lane.ts';
import { attributes, type KeyValue, SCOPE } from '../../../otlp/messages.ts';
import { version } from '../../../version.ts';
import type { RuntimeSettings } from '../../settings/index.ts';
import type { RequestRecord } from '../pipeline/record.ts';
import type { Observer } from '../pipeline/stages.ts';
import { Measures } from './measures.ts';
import { type Detail, toSpans } from './spans.ts';
import { sampledContext, type TraceContext } from './trace-context.ts';

/** Requests come faster than what happens to sandboxes. */
const PACE = { gatherMs: SECOND_MS, most: 8_192, atOnce: 50 };

/** A request that is to become spans. */
interface Traced {
  readonly record: RequestRecord;
  readonly context: TraceContext;
  readonly detail: Detail;
}

/** What telemetry takes from its surroundings. */
export type TelemetryApp = Pick<App, 'config' | 'outbound' | 'log' | 'clock'>;

/**
 * Sends spans and metrics of requests to where tenants want them: the collector of their `telemetry` settings, else the
 * receiver of their OTLP settings. A request pays for a look into the settings, and for a push when it is traced.
 */
export class TelemetryExporter implements Observer {
  private readonly exports: Exports<Traced>;
  private readonly measures = new Map<string, Measures>();
  /** Tenants whose destination, or the lack of one, is known. */
  private readonly known = new Set<string>();
  private readonly instanceId = crypto.randomUUID();
  private timer: Timer | undefined;

  constructor(
    private readonly app: TelemetryApp,
    private readonly settings: RuntimeSettings,
    private readonly receivers: Receivers | undefined,
  ) {
    this.exports = new Exports(app, (tenant, items, to) => this.requestOf(tenant, items, to), PACE);
    settings.onChange((tenant) => this.refresh(tenant));
    receivers?.onChange((tenant) => this.refresh(tenant));
  }

  /** What became of requests as spans, and of exports of metrics. */
  get tally(): Readonly<Tally> {
    return this.exports.tally;
  }

  finished(record: RequestRecord): void {
    const { tenant } = record;
    const detail = this.settings.of(tenant).telemetry;
    if (!detail.enabled || !this.isTold(tenant)) return;
    this.measuresOf(tenant).observe(record);
    const context = sampledContext(record.traceParent, detail.samplingRate);
    if (context) this.exports.note(tenant, { record, context, detail });
  }

  /** Begins to tell metrics. */
  start(): void {
    const everyMs = this.app.config.get('telemetry.metric_interval');
    this.timer = setInterval(() => {
      void this.tellMetrics().catch((error) =>
        this.app.log.error('metrics could not be exported', { error }),
      );
    }, everyMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.tellMetrics();
    await this.exports.stop();
  }

  private async tellMetrics(): Promise<void> {
    const { encodeMetrics } = await import('../../../otlp/codec.ts');
    for (const [tenant, destination] of [...this.exports.destinations()]) {
      const measures = this.measures.get(tenant);
      if (!measures || measures.isQuiet) continue;
      const metrics = measures.tell(this.app.clock.now());
      const resource = { attributes: this.resourceOf(tenant, destination) };
      const body = encodeMetrics([{ resource, scopeMetrics: [{ scope: SCOPE, metrics }] }]);
      this.exports.send(tenant, { signal: 'metrics', body, items: 1 });
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  private async requestOf(tenant: string, items: readonly Traced[], to: Destination): Promise<Made> {
    const { encodeSpans } = await import('../../../otlp/codec.ts');
    const spans = items.flatMap(({ record, context, detail }) => toSpans(record, context, detail));
    const resource = { attributes: this.resourceOf(tenant, to) };
    const body = encodeSpans([{ resource, scopeSpans: [{ scope: SCOPE, spans }] }]);
    return { signal: 'traces', body, items: items.length };
  }

  private resourceOf(tenant: string, { labels }: Destination): KeyValue[] {
    return attributes({
      'service.name': this.settings.of(tenant).telemetry.serviceName,
      'service.version': version,
      ...labels,
      'service.instance.id': this.instanceId,
      'svc.tenant.id': tenant,
    });
  }

  private measuresOf(tenant: string): Measures {
    const known = this.measures.get(tenant);
    if (known) return known;
    const measures = new Measures(this.app.clock.now());
    this.measures.set(tenant, measures);
    return measures;
  }

  /** Whether a tenant's requests are told to anybody. */
  private isTold(tenant: string): boolean {
    if (!this.known.has(tenant)) this.point(tenant);
    return this.exports.has(tenant);
  }

  private refresh(tenant: string): void {
    if (this.known.has(tenant)) this.point(tenant);
  }

  private point(tenant: string): void {
    this.known.add(tenant);
    const destination = this.destinationOf(tenant);
    this.exports.point(tenant, destination);
    if (!destination) this.measures.delete(tenant);
  }

  private destinationOf(tenant: string): Destination | undefined {
    const { enabled, collectorUrl, collectorTrust } = this.settings.of(tenant).telemetry;
    if (!enabled) return undefined;
    if (collectorUrl !== '')
      return { endpoint: baseOf(collectorUrl), headers: {}, labels: {}, trust: collectorTrust };
    try {
      const receiver = this.receivers?.destination(tenant);
      return receiver?.enabled ? receiver : undefined;
    } catch (error) {
      this.app.log.warn('requests are not traced: the settings cannot be read', { tenant, error });
      return undefined;
    }
  }
}

/** People write the address of a signal where the base is asked for. */
function baseOf(url: string): string {
  return url.replace(/\/v1\/(traces|metrics)\/*$/, '');
}
