import { findProgram, HOST_ENV, HostCommandError, run, textOf } from '../host/run.ts';

const DEADLINE_MS = 10_000;

/**
 * Applies lines as one transaction and resolves when the kernel has taken it. nft repeats then what it has added
 * (`--echo`), but ends only when the kernel has cleared up what was deleted, which takes a grace period more: nobody
 * waits for that. Lines that add nothing are waited for to the end.
 * Errors: HostCommandError. @param enter words before the program that bring it to where the rules are
 */
export async function commit(enter: readonly string[], lines: string): Promise<void> {
  const [program = 'nft', ...rest] = [...enter, 'nft', '--echo', '-f', '-'];
  const path = findProgram(program);
  if (!path) throw new HostCommandError(program, 127, 'not installed');
  const child = Bun.spawn([path, ...rest], {
    env: { ...HOST_ENV },
    cwd: '/',
    stdin: Buffer.from(lines),
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: DEADLINE_MS,
    killSignal: 'SIGKILL',
  });
  const said = textOf(child.stderr);
  const { promise, resolve } = Promise.withResolvers<'taken'>();
  const ended = drain(child.stdout, () => resolve('taken')).then(() => child.exited);
  if ((await Promise.race([promise, ended])) === 'taken') return;
  if (child.exitCode !== 0) throw new HostCommandError('nft', child.exitCode ?? -1, await said);
}

/** What nft lists. Errors: HostCommandError. */
export function list(enter: readonly string[], options: readonly string[], lines: string): Promise<string> {
  const [program = 'nft', ...rest] = [...enter, 'nft', ...options, '-f', '-'];
  return run([program, ...rest], { input: lines });
}

/** Reads a pipe to its end, so that its writer never waits. */
async function drain(pipe: ReadableStream<Uint8Array>, first: () => void): Promise<void> {
  for await (const _ of pipe) first();
}
