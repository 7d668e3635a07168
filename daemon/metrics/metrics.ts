import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { observeProcess } from './process.ts';
import { tally } from './tally.ts';

/** The tokens that one call of a model took. */
export interface TokenCount {
  readonly provider: string;
  readonly model: string;
  readonly input: number;
  readonly output: number;
}

/** A figure without labels that a module adds. */
export interface Figure {
  readonly name: string;
  readonly help: string;
  /** A counter only grows; its name ends in `_total`. */
  readonly type: 'gauge' | 'counter';
  /** Asked at each scrape. */
  readonly read: () => number;
}

/** The figures of the instance, for Prometheus. */
export interface Metrics {
  /** One answered request. 101 is a WebSocket that was opened. */
  request(operationId: string, status: number, durationMs: number): void;
  /** Tokens that went through the gateway. */
  tokens(count: TokenCount): void;
  /** Names who counts sandboxes by state; asked at each scrape. */
  sandboxes(count: () => ReadonlyMap<string, number> | Promise<ReadonlyMap<string, number>>): void;
  /** Adds a figure of a module. */
  figure(figure: Figure): void;
  /** Every figure in the text exposition format of Prometheus (version 0.0.4). */
  render(): Promise<string>;
  /** Media type of `render`. */
  readonly contentType: string;
}

/** Upper bounds in seconds: an operation on memory, on a disk, on a sandbox, on a model. */
const DURATION_BUCKETS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
];

/** Makes the figures, in a registry of their own. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const requests = tally(registry, {
    name: 'svc_requests_total',
    help: 'Requests answered, by operation and HTTP status.',
    labelNames: ['operation', 'status'],
  });
  const durations = new Histogram({
    name: 'svc_request_duration_seconds',
    help: 'Time until the answer began, by operation.',
    labelNames: ['operation'],
    buckets: DURATION_BUCKETS,
    registers,
  });
  const tokens = tally(registry, {
    name: 'svc_gateway_tokens_total',
    help: 'Tokens that went through the gateway, by provider, model and direction.',
    labelNames: ['provider', 'model', 'direction'],
  });
  observeProcess(registry);
  return {
    contentType: registry.contentType,
    request(operation, status, durationMs) {
      requests.add(1, operation, String(status));
      durations.observe({ operation }, durationMs / 1000);
    },
    tokens({ provider, model, input, output }) {
      tokens.add(input, provider, model, 'input');
      tokens.add(output, provider, model, 'output');
    },
    sandboxes: (count) => observeSandboxes(registry, count),
    figure: (figure) => observe(registry, figure),
    render: () => registry.metrics(),
  };
}

function observeSandboxes(registry: Registry, count: Parameters<Metrics['sandboxes']>[0]): void {
  new Gauge({
    name: 'svc_sandboxes',
    help: 'Sandboxes, by state.',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      const states = await count();
      this.reset();
      for (const [state, number] of states) this.set({ state }, number);
    },
  });
}

function observe(registry: Registry, { name, help, type, read }: Figure): void {
  const registers = [registry];
  if (type === 'gauge')
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  else
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(read());
      },
    });
}
