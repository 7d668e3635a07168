import type { Execution, OutputChunk } from '../../drivers/driver.ts';

/** A program of this machine as a command of a box, for tests that need no box. */
export function localExecution(argv: readonly string[], cwd: string): Execution {
  const child = Bun.spawn([...argv], { stdin: 'pipe', stdout: 'pipe', stderr: 'pipe', cwd });
  return {
    output: outputOf(child.stdout),
    exited: child.exited.then((code) => ({ code })),
    async write(bytes) {
      child.stdin.write(bytes);
      await child.stdin.flush();
    },
    async endInput() {
      await child.stdin.end();
    },
    async kill() {
      child.kill('SIGKILL');
      await child.exited;
    },
  };
}

async function* outputOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<OutputChunk> {
  for await (const bytes of stream) yield { channel: 'stdout', bytes };
}
