import type { ContainerStats } from 'dockerode';
import { fail } from '../../../../../src/errors/app-error.ts';
import type { BoxStats } from '../driver.ts';
import { type Engine, withEngine } from './engine.ts';
import type { Names } from './names.ts';

const NANO_PER_MICRO = 1_000;

/** What a running box uses. `one-shot` keeps the engine from waiting a second for a second reading. Errors: not_found. */
export async function readStats(engine: Engine, names: Names, id: string): Promise<BoxStats> {
  const container = engine.client.getContainer(names.container(id));
  const options = { stream: false as const, 'one-shot': true };
  const figures = await withEngine(id, () => container.stats(options));
  if (!figures.memory_stats?.limit) throw fail('not_found', { what: 'running box', id });
  return toBoxStats(figures);
}

/** The engine's figures in ours. Memory is without the page cache that the kernel would give back at once. */
export function toBoxStats(figures: ContainerStats): BoxStats {
  const { memory_stats: memory, cpu_stats: cpu, pids_stats: pids } = figures;
  const cards = Object.values(figures.networks ?? {});
  const inner = memory.stats as Readonly<Record<string, number>> | undefined;
  const cache = inner?.total_inactive_file ?? inner?.inactive_file ?? 0;
  return {
    cpuUsageUs: Math.round(cpu.cpu_usage.total_usage / NANO_PER_MICRO),
    memoryBytes: Math.max(0, memory.usage - cache),
    memoryLimitBytes: memory.limit,
    networkRxBytes: cards.reduce((sum, card) => sum + card.rx_bytes, 0),
    networkTxBytes: cards.reduce((sum, card) => sum + card.tx_bytes, 0),
    blockReadBytes: blockBytes(figures, 'read'),
    blockWriteBytes: blockBytes(figures, 'write'),
    pids: pids?.current ?? 0,
  };
}

function blockBytes(figures: ContainerStats, operation: 'read' | 'write'): number {
  const entries = figures.blkio_stats?.io_service_bytes_recursive ?? [];
  return entries
    .filter(({ op }) => op.toLowerCase() === operation)
    .reduce((sum, { value }) => sum + value, 0);
}
