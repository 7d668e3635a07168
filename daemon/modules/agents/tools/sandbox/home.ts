import { fail } from '../../../../../src/errors/app-error.ts';
import { SECOND_MS } from '../../../../../src/kit/time.ts';
import type { Execution, WorkSandboxes } from '../../../sandbox/index.ts';

/** Where paths of an agent begin in its sandbox. */
export interface Home {
  /** Absolute. */
  readonly directory: string;
  /** What `~` stands for. */
  readonly home: string;
}

const DEADLINE_MS = 30 * SECOND_MS;
const MOST_BYTES = 16 * 1024;

/** Makes the directory when it is missing and tells what it is called without links. */
const SCRIPT = `if [ -n "$1" ]; then mkdir -p -- "$1" && cd -- "$1" || exit 1; fi; pwd -P && printf '%s\\n' "\${HOME:-/}"`;

/** Goes to the working directory of an agent. Errors: failed_precondition when there cannot be one. */
export async function homeOf(
  own: Pick<WorkSandboxes, 'start'>,
  tenant: string,
  sandboxId: string,
  wanted: string,
): Promise<Home> {
  const argv = ['/bin/sh', '-c', SCRIPT, 'sh', wanted] as const;
  const { code, stdout, stderr } = await finish(await own.start(tenant, sandboxId, argv));
  const [directory = '', home = ''] = stdout.split('\n');
  if (code === 0 && directory.startsWith('/')) return { directory, home: home.startsWith('/') ? home : '/' };
  const why = stderr.trim() || `the shell ended with ${code}`;
  throw fail('failed_precondition', {
    message: `The working directory ${JSON.stringify(wanted)} cannot be used: ${why}`,
  });
}

/** The absolute path that a model means by a path. */
export function pathIn({ directory, home }: Home, path: string): string {
  if (path === '' || path === '.') return directory;
  if (path.startsWith('/')) return path;
  if (path === '~') return home;
  if (path.startsWith('~/')) return `${home}/${path.slice(2)}`;
  const below = path.startsWith('./') ? path.slice(2) : path;
  return directory === '/' ? `/${below}` : `${directory}/${below}`;
}

/** A path as it is told to a model: relative where it is in the working directory. */
export function shownIn({ directory }: Home, path: string): string {
  const start = directory === '/' ? '/' : `${directory}/`;
  return path.startsWith(start) && path.length > start.length ? path.slice(start.length) : path;
}

async function finish(execution: Execution): Promise<{ code: number; stdout: string; stderr: string }> {
  const heads = { stdout: '', stderr: '' };
  const timer = setTimeout(() => void execution.kill('SIGKILL').catch(() => undefined), DEADLINE_MS);
  try {
    await execution.endInput();
    for await (const { channel, bytes } of execution.output)
      if (heads[channel].length < MOST_BYTES) heads[channel] += Buffer.from(bytes).toString();
    const { code } = await execution.exited;
    return { code, ...heads };
  } finally {
    clearTimeout(timer);
  }
}
