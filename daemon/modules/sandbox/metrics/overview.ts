import type { SandboxOverview } from '../../../../src/api/sandbox/lifecycle.ts';
import type { Value } from '../../../../src/api/schema.ts';
import type { App } from '../../../app.ts';
import type { CommandService } from '../command/service.ts';
import type { SandboxDriver } from '../drivers/driver.ts';
import type { LifecycleService } from '../lifecycle/service.ts';
import { statesOf } from '../lifecycle/states.ts';
import type { StatsService, Usage } from './service.ts';

/** The services that an overview is made from. */
export interface OverviewSources {
  readonly app: App;
  readonly driver: SandboxDriver;
  readonly lifecycle: LifecycleService;
  readonly commands: CommandService;
  readonly stats: StatsService;
}

/** Sums up a tenant's sandboxes and the backend under them. */
export async function overview(
  tenant: string,
  sources: OverviewSources,
): Promise<Value<typeof SandboxOverview>> {
  const { app, driver, lifecycle, commands, stats } = sources;
  const all = { labels: {}, limit: app.config.get('sandbox.max'), offset: 0 };
  const { total } = lifecycle.list(tenant, { ...all, states: statesOf(undefined), limit: 1 });
  const running = lifecycle.list(tenant, { ...all, states: ['running'] });
  const used = await stats.measureAll(running.rows);
  const { total: totalExecutions, meanMs } = commands.totals(tenant);
  return {
    totalInstances: total,
    runningInstances: running.total,
    maxSandboxes: app.config.get('sandbox.max'),
    backend: driver.name,
    maxCpu: app.config.get('sandbox.max_cpu'),
    maxMemoryMb: String(app.config.get('sandbox.max_memory_mb')),
    healthy: (await driver.probe()).usable,
    ...aggregate(used),
    totalExecutions,
    avgExecutionDurationMs: Math.round(meanMs),
  };
}

function aggregate(used: readonly Usage[]) {
  const sum = (pick: (usage: Usage) => number) => used.reduce((total, usage) => total + pick(usage), 0);
  const memory = sum((usage) => usage.memoryBytes);
  const limit = sum((usage) => usage.memoryLimitBytes);
  return {
    aggregateCpuPercent: sum((usage) => usage.cpuPercent),
    aggregateMemoryUsage: String(memory),
    aggregateMemoryLimit: String(limit),
    aggregateMemoryPercent: limit > 0 ? Math.round((10_000 * memory) / limit) / 100 : 0,
    aggregateNetworkRxBytes: String(sum((usage) => usage.networkRxBytes)),
    aggregateNetworkTxBytes: String(sum((usage) => usage.networkTxBytes)),
    aggregateBlockRead: String(sum((usage) => usage.blockReadBytes)),
    aggregateBlockWrite: String(sum((usage) => usage.blockWriteBytes)),
    aggregatePids: sum((usage) => usage.pids),
  };
}
