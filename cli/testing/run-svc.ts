import { join } from 'node:path';

const MAIN = join(import.meta.dir, '..', 'main.ts');

/** How a run of the program ended. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What a run is given. */
export interface RunOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly stdin?: string | Uint8Array | ReadableStream<Uint8Array>;
}

/** The program as a process of its own: from source, with only the environment that is given. */
export function spawnSvc(argv: readonly string[], { env = {}, stdin = '' }: RunOptions = {}) {
  const input = typeof stdin === 'string' ? new TextEncoder().encode(stdin) : stdin;
  return Bun.spawn([process.execPath, MAIN, ...argv], {
    env: { PATH: process.env.PATH, ...env },
    stdin: input,
    stdout: 'pipe',
    stderr: 'pipe',
  });
}

/** Runs the program to its end. */
export async function runSvc(argv: readonly string[], options?: RunOptions): Promise<Ran> {
  const child = spawnSvc(argv, options);
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, stdout, stderr };
}
