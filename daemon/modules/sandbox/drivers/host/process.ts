import { readFileSync } from 'node:fs';

/** A process that cannot be mistaken for a later one with the same number. */
export interface ProcessMark {
  readonly pid: number;
  /** Clock ticks from boot to its start. */
  readonly startTime: string;
  readonly bootId: string;
}

let bootId: string | undefined;

/** Marks a running process; undefined when there is none, or only a zombie. */
export function markOf(pid: number): ProcessMark | undefined {
  const fields = statOf(pid);
  const startTime = fields?.[19];
  if (!fields || startTime === undefined || fields[0] === 'Z' || fields[0] === 'X') return undefined;
  bootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return { pid, startTime, bootId };
}

/** The kernel's flag of a process that was forked and has not become another program yet. */
const PF_FORKNOEXEC = 0x40;

/** Whether a process runs a program that it was given by exec, and not still the one that forked it. */
export function hasExecuted(pid: number): boolean {
  const flags = statOf(pid)?.[6];
  return flags !== undefined && (Number(flags) & PF_FORKNOEXEC) === 0;
}

/** The fields of /proc/<pid>/stat from the state on (proc_pid_stat(5)); undefined when there is no such process. */
function statOf(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

/** Whether the marked process still runs. */
export function isAlive(mark: ProcessMark | undefined): boolean {
  if (!mark) return false;
  const now = markOf(mark.pid);
  return now !== undefined && now.startTime === mark.startTime && now.bootId === mark.bootId;
}

/** Kills the marked process, and no other that has its number by now. */
export function killMarked(mark: ProcessMark | undefined): void {
  if (!mark || !isAlive(mark)) return;
  try {
    process.kill(mark.pid, 'SIGKILL');
  } catch {
    // It ended in between: that is what was wanted.
  }
}

/** Waits until the marked process is gone. False when the deadline came first. */
export async function awaitEnd(mark: ProcessMark | undefined, deadlineMs = 10_000): Promise<boolean> {
  const end = Date.now() + deadlineMs;
  for (let pause = 1; isAlive(mark); pause = Math.min(pause * 2, 50)) {
    if (Date.now() > end) return false;
    await Bun.sleep(pause);
  }
  return true;
}
