import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { findProgram, HOST_ENV, HostCommandError, textOf } from './run.ts';

/** A block of host ids that stand for 0..size-1 inside boxes. */
export interface IdRange {
  readonly base: number;
  readonly size: number;
}

/** The user of boxes for whom commands run, inside. */
export const BOX_UID = 1000;

const SIZE = 65_536;
/** Ids from here to 2^31 are used by nothing else: useradd, systemd and container engines stay below. */
const FIRST = 0x7000_0000;
const SLOTS = 4_096;

/** The ids of an instance: always the same, and apart from those of other instances and of /etc/subuid. */
export function idRangeOf(instance: string): IdRange {
  const taken = subordinateRanges();
  const start = Number(Bun.hash.wyhash(instance) % BigInt(SLOTS));
  for (let i = 0; i < SLOTS; i++) {
    const base = FIRST + ((start + i) % SLOTS) * SIZE;
    if (!taken.some((range) => base < range.base + range.size && range.base < base + SIZE))
      return { base, size: SIZE };
  }
  throw new Error('no free block of user ids');
}

function subordinateRanges(): IdRange[] {
  return ['/etc/subuid', '/etc/subgid'].flatMap((path) => {
    try {
      return readFileSync(path, 'utf8')
        .split('\n')
        .map((line) => line.split(':'))
        .filter((parts) => parts.length === 3)
        .map(([, base, size]) => ({ base: Number(base), size: Number(size) }));
    } catch {
      return [];
    }
  });
}

/** Says that it is there and stays until its input ends. The namespace lives as long. */
const HOLD = 'echo; read -r end';

/**
 * Makes a user namespace with these ids, for as long as `body` works with it. `path` names it.
 * Errors: HostCommandError.
 */
export async function withUserNamespace<T>(
  range: IdRange,
  body: (path: string) => Promise<T> | T,
): Promise<T> {
  const unshare = findProgram('unshare');
  if (!unshare) throw new HostCommandError('unshare', 127, 'not installed');
  const holder = Bun.spawn([unshare, '--user', '/bin/sh', '-c', HOLD], {
    env: { ...HOST_ENV },
    cwd: '/',
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  try {
    const { done } = await holder.stdout.getReader().read();
    if (done) throw new HostCommandError('unshare', await holder.exited, await textOf(holder.stderr));
    const map = `0 ${range.base} ${range.size}`;
    await writeFile(`/proc/${holder.pid}/uid_map`, map);
    await writeFile(`/proc/${holder.pid}/gid_map`, map);
    return await body(`/proc/${holder.pid}/ns/user`);
  } finally {
    holder.kill('SIGKILL');
    await holder.exited;
  }
}

/** The words that run a program as root of a user namespace, who on the host is only the first of its ids. */
export function asRootOf(path: string, argv: readonly string[]): [string, ...string[]] {
  return ['nsenter', `--user=${path}`, '--setuid', '0', '--setgid', '0', '--', ...argv];
}
