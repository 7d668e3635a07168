/** A program of the host that failed: what it was, how it ended, what it said. */
export class HostCommandError extends Error {
  constructor(
    readonly program: string,
    readonly code: number,
    readonly stderr: string,
  ) {
    super(`${program} failed (${code}): ${stderr.trim().slice(-2_000) || 'no message'}`);
    this.name = 'HostCommandError';
  }
}

/** How to run a program of the host. */
export interface RunOptions {
  /** After this the program is killed and the call fails. Ten seconds when absent. */
  readonly timeoutMs?: number;
  /** Text for its stdin; /dev/null when absent. */
  readonly input?: string;
  readonly cwd?: string;
  readonly signal?: AbortSignal;
}

const DEFAULT_TIMEOUT_MS = 10_000;
const OUTPUT_LIMIT = 8 * 1024 * 1024;
const SEARCH_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The environment of host programs: none of the daemon's variables, which may hold secrets. */
export const HOST_ENV: Readonly<Record<string, string>> = { PATH: SEARCH_PATH, LC_ALL: 'C' };

/**
 * Runs a program of the host from its words, never through a shell that would read them, and gives its stdout.
 * Errors: HostCommandError when it does not end with 0, does not end in time, or is not there (127).
 */
export async function run(argv: readonly [string, ...string[]], options: RunOptions = {}): Promise<string> {
  const [program] = argv;
  const path = findProgram(program);
  if (!path) throw new HostCommandError(program, 127, 'not installed');
  const child = Bun.spawn([path, ...argv.slice(1)], {
    env: { ...HOST_ENV },
    cwd: options.cwd ?? '/',
    stdin: options.input === undefined ? 'ignore' : Buffer.from(options.input),
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    killSignal: 'SIGKILL',
    maxBuffer: OUTPUT_LIMIT,
    signal: options.signal,
  });
  const [stdout, stderr] = await Promise.all([textOf(child.stdout), textOf(child.stderr), child.exited]);
  if (child.exitCode !== 0) throw new HostCommandError(program, child.exitCode ?? -1, stderr);
  return stdout;
}

/** The path of a program on this host; undefined when it is not installed. A path stays as it is. */
export function findProgram(name: string): string | undefined {
  return Bun.which(name, { PATH: SEARCH_PATH }) ?? undefined;
}

/** The whole text of a pipe. */
export function textOf(pipe: ReadableStream<Uint8Array>): Promise<string> {
  return new Response(pipe).text();
}
