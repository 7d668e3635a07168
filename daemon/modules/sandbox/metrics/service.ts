import type { App } from '../../../app.ts';
import type { BoxStats, SandboxDriver } from '../drivers/driver.ts';
import type { LifecycleService } from '../lifecycle/service.ts';
import type { Sandbox } from '../tables.ts';

/** What a sandbox uses; cpuPercent is of one core. */
export interface Usage extends BoxStats {
  readonly cpuPercent: number;
  readonly memoryPercent: number;
  readonly at: number;
}

interface Reading {
  readonly cpuUsageUs: number;
  readonly atUs: number;
}

/** Two readings that are closer than this say little about the CPU. */
const LEAST_GAP_US = 20_000;

/** Measures what sandboxes use. */
export class StatsService {
  private readonly readings = new Map<string, Reading>();

  constructor(
    private readonly app: App,
    private readonly driver: SandboxDriver,
    private readonly lifecycle: LifecycleService,
  ) {}

  /** Measures one running sandbox. Errors: sandbox_not_found, sandbox_wrong_state. */
  async measure(tenant: string, idOrName: string): Promise<Usage> {
    const row = this.lifecycle.running(tenant, idOrName);
    return this.usage(row);
  }

  /** Measures all running sandboxes of a tenant; one that ends meanwhile is left out. */
  async measureAll(rows: readonly Sandbox[]): Promise<Usage[]> {
    const results = await Promise.allSettled(rows.map((row) => this.usage(row)));
    return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  }

  /** Forgets a sandbox. */
  forget(id: string): void {
    this.readings.delete(id);
  }

  private async usage(row: Sandbox): Promise<Usage> {
    const before = this.readings.get(row.id) ?? (await this.read(row.id)).reading;
    const gap = performance.now() * 1000 - before.atUs;
    if (gap < LEAST_GAP_US) await Bun.sleep((LEAST_GAP_US - gap) / 1000);
    const { stats, reading } = await this.read(row.id);
    this.readings.set(row.id, reading);
    const cpuPercent = (100 * (reading.cpuUsageUs - before.cpuUsageUs)) / (reading.atUs - before.atUs);
    const memoryPercent = stats.memoryLimitBytes > 0 ? (100 * stats.memoryBytes) / stats.memoryLimitBytes : 0;
    return {
      ...stats,
      cpuPercent: round(cpuPercent),
      memoryPercent: round(memoryPercent),
      at: this.app.clock.now(),
    };
  }

  private async read(id: string): Promise<{ stats: BoxStats; reading: Reading }> {
    const stats = await this.driver.stats(id);
    return { stats, reading: { cpuUsageUs: stats.cpuUsageUs, atUs: performance.now() * 1000 } };
  }
}

function round(value: number): number {
  return Math.round(Math.max(value, 0) * 100) / 100;
}
