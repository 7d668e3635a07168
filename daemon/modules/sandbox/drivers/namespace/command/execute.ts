import { closeSync, fchownSync } from 'node:fs';
import type { ExecSpec, Execution, OutputChunk } from '../../driver.ts';
import type { Found } from '../box/boxes.ts';
import type { Host } from '../box/host.ts';
import { HOST_ENV } from '../host/run.ts';
import { makePipe } from '../host/syscalls.ts';
import { Channel } from './channel.ts';
import { Entry } from './enter.ts';
import { codeOf } from './exit.ts';

/** Starts a command that belongs to its caller. */
export function execute(host: Host, found: Found, spec: ExecSpec): Execution {
  const entry = new Entry(host, found, spec);
  const stdout = makePipe();
  const stderr = makePipe();
  const stdin = spec.stdin ? makePipe() : undefined;
  for (const { write } of [stdout, stderr, ...(stdin ? [stdin] : [])])
    fchownSync(write, entry.hostUid, entry.hostGid);
  const child = Bun.spawn([...entry.argv], {
    env: { ...HOST_ENV },
    cwd: '/',
    stdin: stdin ? stdin.read : 'ignore',
    stdout: stdout.write,
    stderr: stderr.write,
  });
  for (const end of [stdout.write, stderr.write, stdin?.read]) if (end !== undefined) closeSync(end);
  const input = stdin && new Input(stdin.write);
  const output = merge(stdout.read, stderr.read);
  const exited = child.exited.then(() => {
    output.relax();
    const exit = entry.exit(codeOf(child));
    entry.forget();
    return exit;
  });
  return {
    output,
    exited,
    write: async (bytes) => input?.write(bytes),
    endInput: async () => input?.end(),
    kill: (signal) => entry.kill(signal),
  };
}

/** The write end of a command's stdin. */
class Input {
  private readonly sink: Bun.FileSink;
  private ended = false;

  constructor(private readonly descriptor: number) {
    this.sink = Bun.file(descriptor).writer();
  }

  /** Resolves when the pipe has taken the bytes. Errors: EPIPE when nobody reads. */
  async write(bytes: Uint8Array): Promise<void> {
    if (this.ended) throw new Error('the input of this command has ended');
    await Promise.all([this.sink.write(bytes), this.sink.flush()]);
  }

  async end(): Promise<void> {
    if (this.ended) return;
    this.ended = true;
    try {
      await this.sink.end();
    } finally {
      closeSync(this.descriptor);
    }
  }
}

/** Both pipes as one sequence. Each is read on only when its last chunk was taken: a slow reader holds the command back. */
function merge(stdout: number, stderr: number): Channel<OutputChunk> {
  const sources = { stdout: open(stdout), stderr: open(stderr) };
  const channel = new Channel<OutputChunk>(() => {
    for (const { cancel } of Object.values(sources)) cancel();
  });
  const pump = async (name: OutputChunk['channel']): Promise<void> => {
    const { reader, close } = sources[name];
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        await channel.push({ channel: name, bytes: value });
      }
    } finally {
      close();
    }
  };
  Promise.allSettled([pump('stdout'), pump('stderr')]).then(() => channel.end());
  return channel;
}

/** The read end of a pipe as a stream. The stream leaves the descriptor open: `close` does that, once. */
function open(descriptor: number) {
  const reader = Bun.file(descriptor).stream().getReader();
  let isOpen = true;
  return {
    reader,
    close() {
      if (isOpen) closeSync(descriptor);
      isOpen = false;
    },
    cancel() {
      reader.cancel().catch(() => {});
    },
  };
}
