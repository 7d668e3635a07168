import { join } from 'node:path';
import type { BoxStats } from '../driver.ts';
import type { Groups } from './control-groups.ts';
import { readText } from './files.ts';

/**
 * What a group uses now, from its files: those of cgroup v1 or v2. Memory is without the page cache that the
 * kernel can drop at once. The network's part is that of the namespace that process `pid` is in.
 */
export function readUsage(groups: Groups, path: string, pid: number): BoxStats {
  const file = (controller: string, name: string): string => {
    const root = groups.controllers[controller];
    return (root && readText(join(root, path, name))) || '';
  };
  const usage = groups.layout === 'v2' ? unifiedUsage(file) : legacyUsage(file);
  return { ...usage, ...networkUsage(readText(`/proc/${pid}/net/dev`) ?? '') };
}

/** How often the kernel has ended a process of the group for memory. */
export function outOfMemoryKills(groups: Groups, path: string): number {
  const root = groups.controllers.memory;
  if (!root) return 0;
  const name = groups.layout === 'v2' ? 'memory.events' : 'memory.oom_control';
  return keyed(readText(join(root, path, name)) ?? '', 'oom_kill');
}

type GroupUsage = Omit<BoxStats, 'networkRxBytes' | 'networkTxBytes'>;
type GroupFile = (controller: string, name: string) => string;

function unifiedUsage(file: GroupFile): GroupUsage {
  const io = file('io', 'io.stat');
  return {
    cpuUsageUs: keyed(file('cpu', 'cpu.stat'), 'usage_usec'),
    memoryBytes: withoutCache(
      file('memory', 'memory.current'),
      file('memory', 'memory.stat'),
      'inactive_file',
    ),
    memoryLimitBytes: limit(file('memory', 'memory.max')),
    blockReadBytes: sum(io, /rbytes=(\d+)/g),
    blockWriteBytes: sum(io, /wbytes=(\d+)/g),
    pids: Number(file('pids', 'pids.current')),
  };
}

function legacyUsage(file: GroupFile): GroupUsage {
  const io = file('blkio', 'blkio.throttle.io_service_bytes_recursive');
  const memory = file('memory', 'memory.usage_in_bytes');
  return {
    cpuUsageUs: Math.round(Number(file('cpuacct', 'cpuacct.usage')) / 1_000),
    memoryBytes: withoutCache(memory, file('memory', 'memory.stat'), 'total_inactive_file'),
    memoryLimitBytes: limit(file('memory', 'memory.limit_in_bytes')),
    blockReadBytes: sum(io, /Read (\d+)/g),
    blockWriteBytes: sum(io, /Write (\d+)/g),
    pids: Number(file('pids', 'pids.current')),
  };
}

/** The counters of the one interface that leads out (proc_pid_net(5)). */
function networkUsage(table: string): Pick<BoxStats, 'networkRxBytes' | 'networkTxBytes'> {
  const columns = /^\s*eth0:\s*(.*)$/m.exec(table)?.[1]?.trim().split(/\s+/) ?? [];
  return { networkRxBytes: Number(columns[0] ?? 0), networkTxBytes: Number(columns[8] ?? 0) };
}

function keyed(text: string, key: string): number {
  return Number(new RegExp(`^${key} (\\d+)`, 'm').exec(text)?.[1] ?? 0);
}

function withoutCache(usage: string, stat: string, key: string): number {
  return Math.max(0, Number(usage) - keyed(stat, key));
}

/** A limit in bytes; 0 when there is none. */
function limit(text: string): number {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : 0;
}

function sum(text: string, pattern: RegExp): number {
  return [...text.matchAll(pattern)].reduce((total, [, value]) => total + Number(value), 0);
}
