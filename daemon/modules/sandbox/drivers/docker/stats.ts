import type { Container, ContainerStats } from 'dockerode';
import { fail } from '../../../../../src/errors/app-error.ts';
import type { BoxStats } from '../driver.ts';
import { findGroups, type Groups } from '../host/control-groups.ts';
import { readText } from '../host/files.ts';
import { readMounts } from '../host/mounts.ts';
import { readUsage } from '../host/usage.ts';
import { withEngine } from './engine.ts';

const NANO_PER_MICRO = 1_000;

let groups: Promise<Groups | undefined> | undefined;

/**
 * What a running box uses: from the control groups when the engine runs on this host, else from the engine,
 * which takes up to a second to answer. Errors: not_found.
 */
export async function readStats(container: Container, id: string): Promise<BoxStats> {
  const { Id: containerId, State: state } = await withEngine(id, () => container.inspect());
  if (!state.Running) throw fail('not_found', { what: 'running box', id });
  const local = await localUsage(containerId, state.Pid);
  if (local) return local;
  const figures = await withEngine(id, () => container.stats({ stream: false, 'one-shot': true }));
  if (!figures.memory_stats?.limit) throw fail('not_found', { what: 'running box', id });
  return toBoxStats(figures);
}

/** Undefined when the process is none of this host's, or its groups are out of sight. */
async function localUsage(containerId: string, pid: number): Promise<BoxStats | undefined> {
  if (process.platform !== 'linux') return undefined;
  const path = groupOf(readText(`/proc/${pid}/cgroup`) ?? '');
  if (!path?.includes(containerId)) return undefined;
  groups ??= readMounts().some(({ type }) => type === 'cgroup2')
    ? findGroups('')
    : Promise.resolve(undefined);
  const found = await groups.catch(() => undefined);
  const usage = found && readUsage(found, path, pid);
  return usage && usage.memoryLimitBytes > 0 && usage.pids > 0 ? usage : undefined;
}

/** The path of a process in the tree that limits its memory (cgroups(7), /proc/[pid]/cgroup). */
function groupOf(table: string): string | undefined {
  return /^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(.*)$/m.exec(table)?.[1] ?? /^0::(.*)$/m.exec(table)?.[1];
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
