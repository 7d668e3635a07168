import { join } from 'node:path';

const MAIN = join(import.meta.dir, '..', 'main.ts');

/** The command that starts the program from source. */
export const SVC: readonly string[] = [process.execPath, MAIN];

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
  return Bun.spawn([...SVC, ...argv], {
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

/** A run on a terminal of its own. */
export interface TerminalRun {
  /** What it has shown so far. */
  shown(): string;
  /** Types as a person does. */
  type(keys: string): void;
  resize(cols: number, rows: number): void;
  /** Waits until it has shown a text. */
  see(text: string): Promise<void>;
  readonly exited: Promise<number>;
}

/** Runs a command of the shell on a terminal, with `$SVC` as the program. */
export function runOnPty(line: string, env: Readonly<Record<string, string | undefined>>): TerminalRun {
  let shown = '';
  const decoder = new TextDecoder();
  const child = Bun.spawn(['sh', '-c', line], {
    env: { PATH: process.env.PATH, TERM: 'xterm', SVC: SVC.join(' '), ...env },
    terminal: {
      cols: 100,
      rows: 30,
      data: (_, bytes) => {
        shown += decoder.decode(bytes, { stream: true });
      },
    },
  });
  return {
    shown: () => shown,
    type: (keys) => void child.terminal?.write(keys),
    resize: (cols, rows) => child.terminal?.resize(cols, rows),
    async see(text) {
      while (!shown.includes(text)) await Bun.sleep(5);
    },
    exited: child.exited,
  };
}
