import { readText } from './files.ts';

/** One line of the mount table. */
export interface Mount {
  readonly target: string;
  readonly type: string;
  readonly options: readonly string[];
}

/** What is mounted in the daemon's mount namespace (proc_pid_mountinfo(5)). */
export function readMounts(): Mount[] {
  return (readText('/proc/self/mountinfo') ?? '').split('\n').flatMap((line) => {
    const [left, right] = line.split(' - ');
    const target = left?.split(' ')[4];
    const [type, , options] = right?.split(' ') ?? [];
    if (!target || !type) return [];
    return [{ target: unescapeOctal(target), type, options: options?.split(',') ?? [] }];
  });
}

/** Whether something is mounted exactly at this path. */
export function isMounted(path: string): boolean {
  return readMounts().some(({ target }) => target === path);
}

function unescapeOctal(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
