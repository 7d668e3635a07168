import { closeSync, openSync, readFileSync } from 'node:fs';
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

/** A process in a new user namespace that waits to be let go. */
export interface Held {
  readonly pid: number;
  readonly stdin: Bun.FileSink;
  readonly stderr: ReadableStream<Uint8Array>;
  readonly exited: Promise<number>;
  readonly kill: () => void;
}

/** `sh` says that it is there, waits for its line and becomes the program: the map is written in between. */
const WAIT = 'echo; read -r go && exec "$@"';

/**
 * Starts a program as root of a new user namespace that has the given ids, and no right on the host but those
 * of the ids. Its stdin is open. It begins after `begin`. Errors: HostCommandError.
 */
export async function holdInUserNamespace(range: IdRange, argv: readonly string[], cwd = '/'): Promise<Held> {
  const unshare = findProgram('unshare');
  if (!unshare) throw new HostCommandError('unshare', 127, 'not installed');
  const become = ['setpriv', '--reuid', '0', '--regid', '0', '--clear-groups'];
  const child = Bun.spawn([unshare, '--user', '/bin/sh', '-c', WAIT, 'sh', ...become, ...argv], {
    env: { ...HOST_ENV },
    cwd,
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const first = await child.stdout.getReader().read();
  if (first.done) throw new HostCommandError('unshare', await child.exited, await textOf(child.stderr));
  const map = `0 ${range.base} ${range.size}`;
  await writeFile(`/proc/${child.pid}/uid_map`, map);
  await writeFile(`/proc/${child.pid}/gid_map`, map);
  const { pid, stdin, stderr, exited } = child;
  return { pid, stdin, stderr, exited, kill: () => child.kill('SIGKILL') };
}

/** Lets a held program begin; what is written to stdin after it is the program's. */
export function begin(held: Held): void {
  held.stdin.write('\n');
}

/** Hands out a file descriptor of a user namespace with these ids, as idmapped mounts want one. */
export async function withUserNamespace<T>(range: IdRange, body: (fd: number) => T): Promise<T> {
  const held = await holdInUserNamespace(range, ['true']);
  const fd = openSync(`/proc/${held.pid}/ns/user`, 'r');
  try {
    return body(fd);
  } finally {
    closeSync(fd);
    begin(held);
    await held.stdin.end();
    await held.exited;
  }
}
