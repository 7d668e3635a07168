import type { ExecSpec, Execution, Terminal, TerminalSize } from '../driver.ts';
import { type CommandTools, startAttached } from './attachment.ts';
import type { OpenBox } from './boxes.ts';
import { FrameReader } from './demux.ts';
import type { Engine } from './engine.ts';

const RESIZE_TRIES = 40;
const RESIZE_AGAIN_MS = 25;

/** Runs a command through pipes. */
export async function execute(tools: CommandTools, box: OpenBox, spec: ExecSpec): Promise<Execution> {
  const frames = new FrameReader();
  const parse = (part: Uint8Array) => frames.read(part);
  const attachment = await startAttached(tools, box, spec, { stdin: spec.stdin ?? false, parse });
  const { output, exited, write, endInput, kill } = attachment;
  return { output, exited, write, endInput, kill };
}

/** Runs a command on a terminal. */
export async function runOnTerminal(
  tools: CommandTools,
  box: OpenBox,
  spec: ExecSpec,
  terminal: TerminalSize,
): Promise<Terminal> {
  const parse = (part: Uint8Array) => [{ bytes: part }];
  const env = { TERM: 'xterm-256color', ...spec.env };
  const attachment = await startAttached(tools, box, { ...spec, env }, { stdin: true, terminal, parse });
  const { exec, output, exited, write, kill } = attachment;
  const resizer = new Resizer(tools.engine, exec.id);
  void exited.then(() => resizer.stop());
  resizer.set(terminal);
  return {
    output: bytesOf(output),
    exited,
    write: async (bytes) => {
      await resizer.done;
      return write(bytes);
    },
    resize: (size) => resizer.set(size),
    kill,
  };
}

async function* bytesOf(items: AsyncIterable<{ readonly bytes: Uint8Array }>): AsyncGenerator<Uint8Array> {
  for await (const { bytes } of items) yield bytes;
}

/** Sends the latest size, one at a time, again while the engine has not started the command yet. */
class Resizer {
  private wanted: TerminalSize | undefined;
  private running: Promise<void> | undefined;
  private isStopped = false;

  constructor(
    private readonly engine: Engine,
    private readonly execId: string,
  ) {}

  /** Resolves when the latest size holds: input that follows it finds it there. */
  get done(): Promise<void> {
    return this.running ?? Promise.resolve();
  }

  set(size: TerminalSize): void {
    this.wanted = size;
    this.running ??= this.run().finally(() => {
      this.running = undefined;
    });
  }

  stop(): void {
    this.isStopped = true;
  }

  private async run(): Promise<void> {
    for (let tries = 0; this.wanted && tries < RESIZE_TRIES && !this.isStopped; ) {
      const size = this.wanted;
      if (await this.send(size)) {
        if (this.wanted === size) this.wanted = undefined;
        tries = 0;
      } else {
        tries++;
        await Bun.sleep(RESIZE_AGAIN_MS);
      }
    }
  }

  private async send({ cols, rows }: TerminalSize): Promise<boolean> {
    const exec = this.engine.client.getExec(this.execId);
    return exec.resize({ w: cols, h: rows }).then(
      () => true,
      () => false,
    );
  }
}
