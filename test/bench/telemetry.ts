import { Counter, Histogram, Registry } from 'prom-client';
import { createMetrics } from '../../daemon/metrics/metrics.ts';
import type { RequestRecord } from '../../daemon/modules/gateway/pipeline/record.ts';
import { TelemetryExporter } from '../../daemon/modules/gateway/telemetry/exporter.ts';
import { RequestFigures } from '../../daemon/modules/gateway/telemetry/figures.ts';
import { toSpans } from '../../daemon/modules/gateway/telemetry/spans.ts';
import { sampledContext } from '../../daemon/modules/gateway/telemetry/trace-context.ts';
import type { RuntimeConfigValue, TelemetryValue } from '../../daemon/modules/settings/index.ts';
import { encodeSpans } from '../../daemon/otlp/codec.ts';
import { SCOPE } from '../../daemon/otlp/messages.ts';
import { atMost, digits, type Line, Report } from './kit/report.ts';
import { sizeFromEnv } from './kit/setting.ts';

const CALLS = sizeFromEnv('BENCH_OBSERVED', 200_000);
const MODELS = 20;
const SPANS_AT_ONCE = 50;

/** What a request to a model pays for being counted and traced. */
export async function benchTelemetry(report: Report): Promise<void> {
  const floor = perCall(promClient());
  const counted = perCall(figures());
  const off = perCall(exporter({ enabled: false }));
  const unsampled = perCall(exporter({ samplingRate: 0 }));
  const traced = perCall(exporter({}));
  const line = (what: string, ns: number, most?: number): Line => ({
    what,
    cells: [digits(ns / 1000), digits(ns / floor)],
    ...(most === undefined ? {} : { goals: [atMost(ns / 1000, most, 'us')] }),
  });
  report.table({
    title: 'a request that is over, before the next one',
    columns: ['us', 'ratio'],
    lines: [
      line('two counters and a histogram of prom-client', floor),
      line('all figures for Prometheus', counted, 5),
      line('telemetry that is off', off, 0.2),
      line('metrics only', unsampled, 2),
      line('metrics and a trace that waits', traced, 5),
    ],
    notes: [`${MODELS} models; the ratio is to what prom-client itself takes for a part of the figures`],
  });
  const encoded = encoding();
  report.table({
    title: 'later, between other work',
    columns: ['us'],
    lines: [
      {
        what: 'a request as three spans of OTLP',
        cells: [digits(encoded)],
        goals: [atMost(encoded, 80, 'us')],
      },
    ],
    notes: [
      `${SPANS_AT_ONCE} requests at a time, so ${digits((encoded * SPANS_AT_ONCE) / 1000)} ms of the event loop`,
    ],
  });
}

const RECORDS = Array.from({ length: MODELS }, (_, i) => recordOf(`openai/model-${i}`));

function recordOf(model: string): RequestRecord {
  return {
    requestId: 'req_01m7zv3nvyspb9vfsjjh6k206k',
    tenant: 'org_1',
    actor: 'key_1',
    surface: 'chat',
    streamed: true,
    startedAt: 1_700_000_000_000,
    durationMs: 812,
    firstByteMs: 210,
    status: 200,
    ending: 'completed',
    requestedModel: model,
    model,
    resolvedBy: 'explicit',
    attempts: [
      { model: 'groq/first', key: 'env', ms: 40, startMs: 1, failure: 'rate_limit', status: 429 },
      { model, key: 'env', ms: 160, startMs: 50 },
    ],
    usage: { input: 1200, output: 300, cachedInput: 200, reasoning: 50 },
    costMicros: 4200,
    cache: 'miss',
  };
}

function promClient(): (record: RequestRecord) => void {
  const registers = [new Registry()];
  const common = { help: 'h', registers };
  const requests = new Counter({ ...common, name: 'a', labelNames: ['surface', 'model', 'ending'] });
  const tokens = new Counter({ ...common, name: 'b', labelNames: ['model', 'direction'] });
  const duration = new Histogram({ ...common, name: 'c', labelNames: ['surface', 'model'] });
  return ({ surface, model = '', ending, durationMs, usage }) => {
    requests.inc({ surface, model, ending });
    tokens.inc({ model, direction: 'input' }, usage?.input);
    duration.observe({ surface, model }, durationMs / 1000);
  };
}

function figures(): (record: RequestRecord) => void {
  const observer = new RequestFigures(createMetrics());
  return (record) => observer.finished(record);
}

function exporter(more: Partial<TelemetryValue>): (record: RequestRecord) => void {
  const telemetry = {
    enabled: true,
    samplingRate: 1,
    granularity: 'standard',
    collectorUrl: 'http://127.0.0.1:9',
    serviceName: 'svc',
    collectorTrust: 'operator',
    ...more,
  } as TelemetryValue;
  const value = { telemetry } as RuntimeConfigValue;
  const quiet = () => {};
  const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
  const app = { log, outbound: { fetch: () => new Promise(quiet) }, clock: { now: Date.now } };
  const settings = { of: () => value, onChange: () => quiet };
  const observer = new TelemetryExporter(app as never, settings, undefined);
  return (record) => observer.finished(record);
}

/** Microseconds of one request. */
function encoding(): number {
  const detail = {
    granularity: 'standard',
    traceProviderCalls: true,
    traceFallbacks: true,
  } as TelemetryValue;
  const make = () => {
    const some = Array.from({ length: SPANS_AT_ONCE }, (_, i) => RECORDS[i % MODELS] as RequestRecord);
    const spans = some.flatMap((record) => {
      const context = sampledContext(undefined, 1);
      return context ? toSpans(record, context, detail) : [];
    });
    encodeSpans([{ resource: { attributes: [] }, scopeSpans: [{ scope: SCOPE, spans }] }]);
  };
  return perCall(make, CALLS / 200) / SPANS_AT_ONCE / 1000;
}

/** Nanoseconds of processor time of one call, after some that let the runtime compile it: what else runs here hardly counts. */
function perCall(work: (record: RequestRecord) => unknown, calls = CALLS): number {
  for (let i = 0; i < calls / 10; i++) work(RECORDS[i % MODELS] as RequestRecord);
  const before = process.cpuUsage();
  for (let i = 0; i < calls; i++) work(RECORDS[i % MODELS] as RequestRecord);
  const { user, system } = process.cpuUsage(before);
  return ((user + system) * 1000) / calls;
}

if (import.meta.main) {
  await Report.of(benchTelemetry);
  process.exit(0);
}
