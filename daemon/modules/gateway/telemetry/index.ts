import type { Metrics } from '../../../metrics/metrics.ts';
import type { Receivers } from '../../../otlp/destination.ts';
import type { RuntimeSettings } from '../../settings/index.ts';
import type { Observer } from '../pipeline/stages.ts';
import type { Circuits } from '../routing/circuits.ts';
import { type TelemetryApp, TelemetryExporter } from './exporter.ts';
import { RequestFigures } from './figures.ts';

/** Who tells of requests: to receivers of OTLP, and to Prometheus. */
export interface TelemetryRoom {
  readonly observers: readonly Observer[];
  start(): void;
  /** Sends what waits, as far as receivers take it at once. */
  stop(): Promise<void>;
}

/** What the room is made of. */
export interface TelemetryParts {
  readonly settings: RuntimeSettings;
  readonly circuits: Circuits;
  /** Receivers that tenants have named for figures of every kind. */
  readonly receivers?: Receivers;
  readonly metrics?: Metrics;
}

/** Makes traces and metrics of requests. */
export function createTelemetry(
  app: TelemetryApp,
  { settings, circuits, receivers, metrics }: TelemetryParts,
): TelemetryRoom {
  const exporter = new TelemetryExporter(app, settings, receivers);
  if (metrics) addFigures(metrics, exporter, circuits);
  return {
    observers: metrics ? [new RequestFigures(metrics), exporter] : [exporter],
    start: () => exporter.start(),
    stop: () => exporter.stop(),
  };
}

function addFigures(metrics: Metrics, exporter: TelemetryExporter, circuits: Circuits): void {
  metrics.figure({
    name: 'svc_gateway_circuits_open',
    help: 'Keys of providers that rest, each for one model, because calls with them failed.',
    type: 'gauge',
    read: () => circuits.resting,
  });
  metrics.figure({
    name: 'svc_gateway_calls',
    help: 'Calls of providers that have no answer yet.',
    type: 'gauge',
    read: () => circuits.calls,
  });
  metrics.figure({
    name: 'svc_gateway_traces_sent_total',
    help: 'Traced requests and exports of metrics that receivers have taken.',
    type: 'counter',
    read: () => exporter.tally.sent,
  });
  metrics.figure({
    name: 'svc_gateway_traces_dropped_total',
    help: 'Traced requests and exports of metrics that no receiver has taken.',
    type: 'counter',
    read: () => exporter.tally.dropped,
  });
}
