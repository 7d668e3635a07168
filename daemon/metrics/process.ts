import { readdirSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, Gauge, type Registry } from 'prom-client';

const SAMPLE_MS = 100;
const NS = 1e9;

/**
 * Adds what the process itself takes. prom-client's own collectors report heaps of Node that Bun does not have,
 * so these are measured here, under the names that dashboards know.
 */
export function observeProcess(registry: Registry): void {
  const registers = [registry];
  const startedAt = Date.now() / 1000 - process.uptime();
  gauge(registry, 'process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss());
  gauge(registry, 'process_start_time_seconds', 'Start of the process, as Unix time.', () => startedAt);
  if (process.platform === 'linux')
    gauge(registry, 'process_open_fds', 'Open file descriptors.', () => readdirSync('/proc/self/fd').length);
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Processor time in user and system mode.',
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
  observeLag(registers);
}

/** How late the event loop ran what was due since the last scrape. */
function observeLag(registers: Registry[]): void {
  const delays = monitorEventLoopDelay({ resolution: SAMPLE_MS });
  delays.enable();
  new Gauge({
    name: 'svc_event_loop_lag_seconds',
    help: 'Lateness of the event loop since the last scrape.',
    labelNames: ['quantile'],
    registers,
    collect() {
      for (const quantile of [50, 90, 99, 100]) {
        const seconds = delays.count > 0 ? delays.percentile(quantile) / NS : 0;
        this.set({ quantile: quantile / 100 }, seconds);
      }
      delays.reset();
    },
  });
}

function gauge(registry: Registry, name: string, help: string, read: () => number): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      this.set(read());
    },
  });
}
