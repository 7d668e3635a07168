import type { ExecSpec, Execution, OutputChunk } from '../../driver.ts';
import type { Found } from '../box/boxes.ts';
import type { Host } from '../box/host.ts';
import { HOST_ENV } from '../host/run.ts';
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

type Pending = { channel: OutputChunk['channel']; read: Promise<{ done: boolean; value?: Uint8Array }> };

/**
 * Both pipes as one sequence. Each pipe has one read under way; the next one starts when the chunk was taken,
 * so that a slow reader holds the command back.
 */
async function* merge(
  stdout: ReadableStream<Uint8Array>,
  stderr: ReadableStream<Uint8Array>,
): AsyncGenerator<OutputChunk> {
  const readers = { stdout: stdout.getReader(), stderr: stderr.getReader() };
  const begin = (channel: OutputChunk['channel']): Pending => ({ channel, read: readers[channel].read() });
  const pending = new Map([begin('stdout'), begin('stderr')].map((item) => [item.channel, item]));
  try {
    while (pending.size > 0) {
      const { channel, done, value } = await Promise.race(
        [...pending.values()].map(async (item) => ({ channel: item.channel, ...(await item.read) })),
      );
      if (done) pending.delete(channel);
      else pending.set(channel, begin(channel));
      if (value) yield { channel, bytes: value };
    }
  } finally {
    for (const reader of Object.values(readers)) reader.cancel().catch(() => {});
  }
}
