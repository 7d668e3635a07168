import { closeSync } from 'node:fs';
import type { ExecSpec, Terminal, TerminalSize } from '../../driver.ts';
import { openPseudoTerminal } from '../../host/pseudo-terminal.ts';
import { resizeTerminal } from '../../host/syscalls.ts';
import type { Found } from '../box/boxes.ts';
import type { Host } from '../box/host.ts';
import { processSpec } from '../box/process-spec.ts';
import { Channel } from './channel.ts';
import { entryDir } from './enter.ts';
import { Input } from './pipes.ts';
import type { Piped } from './spawn.ts';
import type { Starters } from './starters.ts';

/** How long descendants may still write when the program of a terminal has ended; then they are hung up on. */
const HANG_UP_MS = 500;

/**
 * Starts a command on a terminal. The terminal is one of the box, and this is its other end: no runtime copies
 * bytes between two terminals, where the last ones get lost and sizes come late.
 */
export async function openTerminal(
  host: Host,
  starters: Starters,
  found: Found,
  spec: ExecSpec,
  size: TerminalSize,
): Promise<Terminal> {
  const process = processSpec(found.record, spec, true);
  entryDir(found.dir, spec.id);
  const { base, size: ids } = host.range;
  const owner = base + (process.user.uid < ids ? process.user.uid : 0);
  const { master, path } = openPseudoTerminal(found.init.pid, owner, base, size);
  try {
    return terminalOf(await starters.takeForTerminal(found, process, path), master);
  } catch (error) {
    closeSync(master);
    throw error;
  }
}

function terminalOf({ entry, child, stdout, stderr, exit }: Piped, master: number): Terminal {
  for (const end of [stdout, stderr]) closeSync(end);
  const screen = new Screen(master);
  const exited = child.exited.then(() => {
    const ended = exit();
    entry.forget();
    screen.hangUpSoon();
    return ended;
  });
  return {
    output: screen.output,
    exited,
    write: (bytes) => screen.write(bytes),
    resize: (size) => screen.resize(size),
    kill: (signal) => entry.kill(signal),
  };
}

/** The daemon's end of a terminal. It is closed once, when its other end is, or when it is hung up. */
class Screen {
  readonly output = new Channel<Uint8Array>(() => this.hangUp());
  private readonly reader: ReadableStreamDefaultReader<Uint8Array>;
  private readonly input: Input;
  private isOpen = true;

  constructor(private readonly master: number) {
    this.reader = Bun.file(master).stream().getReader();
    this.input = new Input(master);
    void this.pump();
  }

  /** Resolves when the terminal has taken the bytes. On one that is closed they are lost. */
  async write(bytes: Uint8Array): Promise<void> {
    if (this.isOpen) await this.input.write(bytes).catch(() => {});
  }

  resize(size: TerminalSize): void {
    if (this.isOpen) resizeTerminal(this.master, size);
  }

  hangUpSoon(): void {
    this.output.relax();
    setTimeout(() => this.hangUp(), HANG_UP_MS).unref();
  }

  private hangUp(): void {
    this.reader.cancel().catch(() => {});
    this.close();
  }

  private async pump(): Promise<void> {
    try {
      for (;;) {
        const { done, value } = await this.reader.read();
        if (done) break;
        await this.output.push(value);
      }
    } catch {
      // EIO: nobody has the other end any more.
    }
    this.output.end();
    this.close();
  }

  private close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.input.end().catch(() => {});
  }
}
