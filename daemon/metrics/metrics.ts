import { Counter, Gauge, Registry } from 'prom-client';
import { observeProcess } from './process.ts';
import { type SpreadFigure, type SpreadOptions, spreadFigure } from './spread.ts';
import { type Tally, type TallyOptions, tally } from './tally.ts';

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
  /** Names who counts sandboxes by state; asked at each scrape. */
  sandboxes(count: () => ReadonlyMap<string, number> | Promise<ReadonlyMap<string, number>>): void;
  /** Adds a figure of a module. */
  figure(figure: Figure): void;
  /** Adds a counter of a module, with labels that may be names which tenants have given. */
  tally(options: TallyOptions): Tally;
  /** Adds a histogram of a module, with labels that may be names which tenants have given. */
  spread(options: SpreadOptions): SpreadFigure;
  /**
   * The figures in the text exposition format of Prometheus (version 0.0.4): every one, or without those whose labels may
   * be names of tenants.
   */
  render(which?: 'all' | 'nameless'): Promise<string>;
  /** Media type of `render`. */
  readonly contentType: string;
}

/** Upper bounds in seconds: an operation on memory, on a disk, on a sandbox, on a model. */
export const DURATION_BUCKETS: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
];

/** Makes the figures, in registries of their own. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const named = new Registry();
  const requests = tally(registry, {
    name: 'svc_requests_total',
    help: 'Requests answered, by operation and HTTP status.',
    labelNames: ['operation', 'status'],
  });
  const durations = spreadFigure(registry, {
    name: 'svc_request_duration_seconds',
    help: 'Time until the answer began, by operation.',
    labelNames: ['operation'],
    buckets: DURATION_BUCKETS,
  });
  observeProcess(registry);
  return {
    contentType: registry.contentType,
    request(operation, status, durationMs) {
      requests.add(1, operation, String(status));
      durations.observe(durationMs / 1000, operation);
    },
    sandboxes: (count) => observeSandboxes(registry, count),
    figure: (figure) => observe(registry, figure),
    tally: (options) => tally(named, options),
    spread: (options) => spreadFigure(named, options),
    async render(which = 'all') {
      const nameless = await registry.metrics();
      return which === 'all' ? nameless + (await named.metrics()) : nameless;
    },
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
