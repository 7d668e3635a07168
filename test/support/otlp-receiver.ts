import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { type ChildServer, startChild } from './child-server.ts';

/** An attribute as it was decoded. */
export interface Attribute {
  readonly key: string;
  readonly value: {
    readonly stringValue?: string;
    readonly intValue?: string;
    readonly doubleValue?: number;
  };
}

/** A value of a series as it was decoded. */
export interface ReceivedPoint {
  readonly attributes?: readonly Attribute[];
  readonly startTimeUnixNano?: string;
  readonly timeUnixNano: string;
  readonly asDouble?: number;
  readonly asInt?: string;
}

/** How values are spread, as it was decoded. */
export interface ReceivedSpread {
  readonly attributes?: readonly Attribute[];
  readonly count: string;
  readonly sum?: number;
  readonly bucketCounts?: readonly string[];
  readonly explicitBounds?: readonly number[];
}

/** A metric as it was decoded. */
export interface ReceivedMetric {
  readonly name: string;
  readonly unit: string;
  readonly gauge?: { readonly dataPoints: readonly ReceivedPoint[] };
  readonly sum?: {
    readonly dataPoints: readonly ReceivedPoint[];
    readonly aggregationTemporality: string;
    readonly isMonotonic?: boolean;
  };
  readonly histogram?: { readonly dataPoints: readonly ReceivedSpread[] };
}

/** A span as it was decoded; ids are hexadecimal. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Absent for the first of a trace. */
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: readonly Attribute[];
  readonly events?: ReadonlyArray<{ readonly name: string; readonly attributes?: readonly Attribute[] }>;
  readonly status?: { readonly code?: string; readonly message?: string };
}

/** One thing that is told of, with its metrics or its spans. */
export interface ReceivedResource {
  readonly resource: { readonly attributes: readonly Attribute[] };
  readonly scopeMetrics?: ReadonlyArray<{ readonly metrics: readonly ReceivedMetric[] }>;
  readonly scopeSpans?: ReadonlyArray<{ readonly spans: readonly ReceivedSpan[] }>;
}

/** A request that the receiver got, decoded by the definitions of opentelemetry-proto. */
export interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What it was answered; 0 when the connection was closed. */
  readonly status: number;
  readonly resources: readonly ReceivedResource[];
}

/** How the receiver behaves from now on. */
export interface Behaviour {
  readonly status?: number;
  readonly retryAfter?: string;
  readonly delayMs?: number;
  /** Closes the connection in place of an answer. */
  readonly close?: boolean;
  /** How much it says it did not take. */
  readonly rejected?: number;
}

/** An OTLP/HTTP receiver of a test. */
export interface OtlpReceiver extends ChildServer<Received> {
  readonly url: string;
  behave(behaviour: Behaviour): Promise<void>;
  /** The next request that fits; those before it are dropped. */
  nextWhere(fits: (received: Received) => boolean): Promise<Received>;
}

/** Starts a receiver on this machine, in a process of its own. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const child = await startChild<Received>(import.meta.path, []);
  const url = `http://127.0.0.1:${child.port}`;
  return {
    ...child,
    url,
    async behave(behaviour) {
      await fetch(`${url}/behave`, { method: 'PUT', body: JSON.stringify(behaviour) });
    },
    async nextWhere(fits) {
      for (;;) {
        const received = await child.next();
        if (fits(received)) return received;
      }
    },
  };
}

/** What the generated code of opentelemetry-proto offers here. */
interface Message {
  decode(bytes: Uint8Array): object;
  encode(message: object): { finish(): Uint8Array };
  toObject(message: object, options: object): Record<string, unknown>;
}

async function serve(): Promise<void> {
  const require = createRequire(import.meta.url);
  const { opentelemetry } = require('@opentelemetry/otlp-transformer/build/src/generated/root.js');
  const { metrics, trace } = opentelemetry.proto.collector;
  const services: Record<string, { request: Message; response: Message; list: string; rejected: string }> = {
    '/v1/metrics': {
      request: metrics.v1.ExportMetricsServiceRequest,
      response: metrics.v1.ExportMetricsServiceResponse,
      list: 'resourceMetrics',
      rejected: 'rejectedDataPoints',
    },
    '/v1/traces': {
      request: trace.v1.ExportTraceServiceRequest,
      response: trace.v1.ExportTraceServiceResponse,
      list: 'resourceSpans',
      rejected: 'rejectedSpans',
    },
  };
  const say = (event: object) => void process.stdout.write(`${JSON.stringify(event)}\n`);
  let behaviour: Behaviour = {};
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>));
    if (request.url === '/behave') {
      behaviour = JSON.parse(body.toString());
      response.end();
      return;
    }
    const { status = 200, retryAfter, delayMs = 0, close, rejected = 0 } = behaviour;
    const path = request.url ?? '';
    const service = Object.entries(services).find(([suffix]) => path.endsWith(suffix))?.[1];
    const isProtobuf = request.headers['content-type'] === 'application/x-protobuf';
    const decoded = service && isProtobuf ? plain(service.request, body) : {};
    const resources = decoded[service?.list ?? ''] ?? [];
    say({ path, headers: request.headers, status: close ? 0 : service ? status : 404, resources });
    if (delayMs > 0) await Bun.sleep(delayMs);
    if (close) return void request.socket.destroy();
    const partial = { partialSuccess: { [service?.rejected ?? '']: rejected, errorMessage: 'too much' } };
    const bytes = service?.response.encode(rejected > 0 ? partial : {}).finish() ?? new Uint8Array();
    const headers = {
      'content-type': 'application/x-protobuf',
      ...(retryAfter ? { 'retry-after': retryAfter } : {}),
    };
    response.writeHead(service ? status : 404, headers).end(status === 200 ? bytes : '');
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  say({ port: typeof address === 'object' ? address?.port : undefined });
}

function plain(message: Message, body: Uint8Array): Record<string, unknown> {
  const decoded = message.toObject(message.decode(body), { longs: String, enums: String, bytes: Array });
  return JSON.parse(
    JSON.stringify(decoded, (key, value) => (/^(trace|span|parentSpan)Id$/.test(key) ? hex(value) : value)),
  );
}

function hex(bytes: readonly number[]): string {
  return Buffer.from(bytes).toString('hex');
}

if (import.meta.main) await serve();
