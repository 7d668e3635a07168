import { readFileSync } from 'node:fs';

/**
 * A text that names one process for ever: its start time, and the boot on Linux.
 * Undefined when there is no such process.
 */
export function processMark(pid: number): string | undefined {
  if (!isAlive(pid)) return undefined;
  return process.platform === 'linux' ? linuxMark(pid) : psMark(pid);
}

/** Waits until a process is gone; false when it is still there at the deadline. */
export async function waitForEnd(pid: number, mark: string, deadlineMs: number): Promise<boolean> {
  const end = Date.now() + deadlineMs;
  while (processMark(pid) === mark) {
    if (Date.now() >= end) return false;
    await Bun.sleep(50);
  }
  return true;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

function linuxMark(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold anything; state is the first field after it, the start time the twentieth.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z') return undefined;
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${fields[19]}`;
  } catch {
    return undefined;
  }
}

function psMark(pid: number): string | undefined {
  const { stdout, success } = Bun.spawnSync(['ps', '-o', 'lstart=', '-p', String(pid)]);
  const started = stdout.toString().trim();
  return success && started ? started : undefined;
}
