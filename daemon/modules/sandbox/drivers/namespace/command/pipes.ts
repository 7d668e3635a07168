import { closeSync } from 'node:fs';
import type { OutputChunk } from '../../driver.ts';
import { Channel } from './channel.ts';

/** The write end of a command's stdin. */
export class Input {
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
export function mergeOutputs(stdout: number, stderr: number): Channel<OutputChunk> {
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
