import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { readMounts } from '../../host/mounts.ts';
import { idRangeOf } from '../../host/user-namespace.ts';
import { markOf } from '../../network/network.ts';

/** What boxes of an instance leave on a host, as counts. */
export interface Traces {
  readonly processes: number;
  readonly mounts: number;
  readonly groups: number;
  readonly namespaces: number;
  readonly devices: number;
  readonly files: number;
}

/** Counts what there is of an instance on this host. */
export function tracesOf(instance: string, dataDir: string): Traces {
  const mark = markOf(instance);
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const { base, size } = idRangeOf(instance);
  const own = pids.filter((pid) => {
    const uid = Number(/^Uid:\s+(\d+)/m.exec(text(`/proc/${pid}/status`))?.[1]);
    return uid >= base && uid < base + size && !/^State:\s+Z/m.test(text(`/proc/${pid}/status`));
  });
  return {
    processes: own.length,
    mounts: readMounts().filter(
      ({ target }) => target.startsWith(dataDir) || target.startsWith(`/run/svc-${instance}`),
    ).length,
    groups: groupsOf(instance),
    namespaces: new Set(own.map((pid) => linkOf(`/proc/${pid}/ns/net`))).size,
    devices: (
      text('/proc/self/net/dev').match(new RegExp(`^\\s*(svc${mark}|v${mark.slice(-4)})`, 'gm')) ?? []
    ).length,
    files: countFiles(join(dataDir, 'boxes')),
  };
}

function groupsOf(instance: string): number {
  const roots = readMounts().filter(({ type }) => type.startsWith('cgroup'));
  const names = ['', '-commands', '-keepers'].map((suffix) => `svc-${instance}${suffix}`);
  const found = roots.flatMap(({ target }) => names.map((name) => join(target, name)));
  return found.filter((path) => existsSync(path)).reduce((sum, path) => sum + 1 + folders(path), 0);
}

function folders(path: string): number {
  try {
    return readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory())
      .length;
  } catch {
    return 0;
  }
}

function countFiles(path: string): number {
  return readdirSync(path).filter((name) => name !== '.shared').length;
}

function text(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
