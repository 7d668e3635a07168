import { closeSync, openSync } from 'node:fs';
import { markOf, type ProcessMark } from '../drivers/host/process.ts';
import { findProgram, HOST_ENV } from '../drivers/host/run.ts';
import type { Place } from './places.ts';
import type { Remote } from './remote.ts';

/** What is started for a mount. */
export interface ProgramSpec {
  readonly remote: Remote;
  readonly place: Place;
  /** The id on this host of the user to whom the files belong. */
  readonly owner: number;
  /** A control group of its own: those who end the daemon with all of its group leave it. */
  readonly group: string | undefined;
  /** Where the way out is, on the loopback of the program's own network. */
  readonly proxyPort: number;
}

/** A program that was started and waits for its way out. */
export interface Program {
  readonly mark: ProcessMark;
  readonly exited: Promise<number>;
  /** Lets it go on. */
  go(): void;
}

/** Seconds that the store has to show what is in the bucket; one that takes longer for very many is taken as there. */
const CHECK_SECONDS = 20;

/** In a network without any way out: waits for the word of the daemon, and ends when that is gone. */
const OUTER = `set -e
[ -z "$1" ] || echo 0 >"$1/cgroup.procs"
shift
ip link set lo up
echo up
read -r word
[ "$word" = go ]
exec "$@" </dev/null >&2`;

/** Looks into the bucket, so that wrong credentials are an error and not an empty folder, and mounts it. */
const INNER = `set +e
timeout --foreground "$1" rclone --config= --retries 1 --low-level-retries 2 --contimeout 10s lsf --max-depth 1 -- "$2" >/dev/null
code=$?
[ "$code" = 0 ] || [ "$code" = 124 ] || exit "$code"
shift 2
exec "$@"`;

/**
 * FUSE mounts take this one right; all others are given away. What a store answers cannot make it take all memory,
 * and what it knows is never dumped.
 */
const WEAKENED = [
  ...['prlimit', '--data=1073741824', '--core=0', '--'],
  ...['setpriv', '--no-new-privs', '--bounding-set', '-all,+sys_admin', '--inh-caps', '-all', '--'],
];

/** The words of a mount. Nothing in them is secret: everybody on the host may read them. */
export function mountWords({ remote, place, owner }: Omit<ProgramSpec, 'proxyPort' | 'group'>): string[] {
  return [
    ...['rclone', '--config=', 'mount', '--allow-other', '--default-permissions'],
    ...['--uid', String(owner), '--gid', String(owner), '--umask', '022'],
    ...['--file-perms', '0644', '--dir-perms', '0755', '--use-server-modtime'],
    ...['--cache-dir', place.cache, '--vfs-cache-mode', 'writes', '--vfs-write-back', '1s'],
    ...['--vfs-cache-max-size', '1G', '--vfs-cache-poll-interval', '20s', '--dir-cache-time', '5s'],
    ...['--contimeout', '10s', '--timeout', '30s', '--low-level-retries', '3'],
    ...['--buffer-size', '1M', '--transfers', '4', '--s3-upload-concurrency', '2'],
    ...['--log-level', 'NOTICE', '--', remote.path, place.point],
  ];
}

/** The environment of a mount: the secrets of the store are here and nowhere else. */
export function mountEnvironment({
  remote,
  proxyPort,
}: Pick<ProgramSpec, 'remote' | 'proxyPort'>): Record<string, string> {
  const proxy = `http://127.0.0.1:${proxyPort}`;
  const { SSL_CERT_FILE: file, SSL_CERT_DIR: dir } = process.env;
  return {
    ...HOST_ENV,
    HOME: '/nonexistent',
    GOMEMLIMIT: '256MiB',
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    ...(file ? { SSL_CERT_FILE: file } : {}),
    ...(dir ? { SSL_CERT_DIR: dir } : {}),
    ...remote.env,
  };
}

/**
 * Starts the program of a mount in a session and a network of its own, where it waits: it outlives the daemon once it
 * was let go. Its words go to the log of the mount. Errors: those of node:fs, Error when it does not start.
 */
export async function startProgram(spec: ProgramSpec): Promise<Program> {
  const log = openSync(spec.place.log, 'a', 0o600);
  try {
    const child = Bun.spawn(
      [
        ...[
          findProgram('setsid') ?? 'setsid',
          'unshare',
          '--net',
          '--',
          '/bin/sh',
          '-c',
          OUTER,
          'sh',
          spec.group ?? '',
        ],
        ...[...WEAKENED, '/bin/sh', '-c', INNER, 'sh', String(CHECK_SECONDS), spec.remote.path],
        ...mountWords(spec),
      ],
      { env: mountEnvironment(spec), cwd: '/', stdin: 'pipe', stdout: 'pipe', stderr: log },
    );
    const { done } = await child.stdout.getReader().read();
    const mark = done ? undefined : markOf(child.pid);
    if (!mark) throw new Error(`the mount did not start (${await child.exited})`);
    child.unref();
    return {
      mark,
      exited: child.exited,
      go() {
        child.stdin.write('go\n');
        void child.stdin.end();
      },
    };
  } finally {
    closeSync(log);
  }
}
