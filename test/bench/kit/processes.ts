import { readdirSync, readFileSync } from 'node:fs';

/** Memory of one or several processes, in MB. */
export interface Memory {
  /** What is in memory, shared pages counted in each process (Rss). */
  readonly residentMb: number;
  /** What is in memory, shared pages divided among those who share them (Pss). */
  readonly shareMb: number;
}

/** The memory of these processes together (proc_pid_smaps_rollup(5)). One that ends meanwhile counts nothing. */
export function memoryOf(pids: Iterable<number>): Memory {
  let [resident, share] = [0, 0];
  for (const pid of pids) {
    const text = textOf(`/proc/${pid}/smaps_rollup`);
    resident += kilobytes(text, 'Rss');
    share += kilobytes(text, 'Pss');
  }
  return { residentMb: resident / 1024, shareMb: share / 1024 };
}

/** Memory of the machine that nothing uses or that can be had back at once, in MB. */
export function availableMb(): number {
  return kilobytes(textOf('/proc/meminfo'), 'MemAvailable') / 1024;
}

/** The processes below one, at any depth, without itself. */
export function descendantsOf(pid: number): number[] {
  const parents = new Map(allPids().map((one) => [one, parentOf(one)]));
  const isBelow = (one: number | undefined): boolean =>
    one !== undefined && one > 1 && (parents.get(one) === pid || isBelow(parents.get(one)));
  return [...parents.keys()].filter((one) => isBelow(one));
}

/** The living processes whose real user is in a range. */
export function processesOfUsers(base: number, size: number): number[] {
  return allPids().filter((pid) => {
    const status = textOf(`/proc/${pid}/status`);
    const uid = Number(/^Uid:\s+(\d+)/m.exec(status)?.[1]);
    return uid >= base && uid < base + size && !/^State:\s+Z/m.test(status);
  });
}

function allPids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function parentOf(pid: number): number {
  return Number(/^PPid:\s+(\d+)/m.exec(textOf(`/proc/${pid}/status`))?.[1] ?? 0);
}

function kilobytes(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
