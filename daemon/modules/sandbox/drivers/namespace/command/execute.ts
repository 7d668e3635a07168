import type { ExecSpec, Execution, OutputChunk } from '../../driver.ts';
import type { Found } from '../box/boxes.ts';
import type { Host } from '../box/host.ts';
import { HOST_ENV } from '../host/run.ts';
import { Channel } from './channel.ts';
import { Entry } from './enter.ts';
import { codeOf } from './exit.ts';

/** Starts a command that belongs to its caller. */
export function execute(host: Host, found: Found, spec: ExecSpec): Execution {
  const entry = new Entry(host, found, spec);
  const child = Bun.spawn([...entry.argv], {
    env: { ...HOST_ENV },
    cwd: '/',
    stdin: spec.stdin ? 'pipe' : 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const exited = child.exited.then(() => {
    const exit = entry.exit(codeOf(child));
    entry.forget();
    return exit;
  });
  return {
    output: merge(child.stdout, child.stderr),
    exited,
    async write(bytes) {
      if (!child.stdin) throw new Error('this command has no stdin');
      child.stdin.write(bytes);
      await child.stdin.flush();
    },
    async endInput() {
      await child.stdin?.end();
    },
    kill: (signal) => entry.kill(signal, child.pid),
  };
}

/** Both pipes as one sequence. Each is read on only when its last chunk was taken: a slow reader holds the command back. */
function merge(
  stdout: ReadableStream<Uint8Array>,
  stderr: ReadableStream<Uint8Array>,
): AsyncIterable<OutputChunk> {
  const readers = { stdout: stdout.getReader(), stderr: stderr.getReader() };
  const channel = new Channel<OutputChunk>(() => {
    for (const reader of Object.values(readers)) reader.cancel().catch(() => {});
  });
  const pump = async (name: OutputChunk['channel']): Promise<void> => {
    for (;;) {
      const { done, value } = await readers[name].read();
      if (done) return;
      await channel.push({ channel: name, bytes: value });
    }
  };
  Promise.allSettled([pump('stdout'), pump('stderr')]).then(() => channel.end());
  return channel;
}
