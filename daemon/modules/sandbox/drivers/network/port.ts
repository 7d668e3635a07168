import { readText } from '../host/files.ts';

/** The index, outside, of the other end of a process's `eth0` (sysfs(5)); undefined when it has none. */
export function portIndexOf(pid: number): number | undefined {
  const index = Number(readText(`/proc/${pid}/root/sys/class/net/eth0/iflink`));
  return Number.isInteger(index) && index > 0 ? index : undefined;
}

/** The name, on this host, of the other end of a process's `eth0`; undefined when there is none. */
export function portOf(pid: number): string | undefined {
  const index = portIndexOf(pid);
  return index === undefined ? undefined : nameOf(index, readText('/proc/net/dev_mcast') ?? '');
}

/** The name of a device in /proc/net/dev_mcast, which lists devices that are up as `index name ...`. */
export function nameOf(index: number, table: string): string | undefined {
  return table
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .find(([number]) => Number(number) === index)?.[1];
}
