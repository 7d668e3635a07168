import { closeSync, readdirSync, readlinkSync } from 'node:fs';
import type { ExecSpec, Terminal, TerminalSize } from '../../driver.ts';
import type { Found } from '../box/boxes.ts';
import type { Host } from '../box/host.ts';
import { HOST_ENV } from '../host/run.ts';
import { resizeTerminal } from '../host/syscalls.ts';
import { Channel } from './channel.ts';
import { Entry } from './enter.ts';
import { codeOf } from './exit.ts';

const MIB = 1024 * 1024;
/** Output that waits for its reader before the command is made to stand still. */
const HIGH_WATER = 4 * MIB;

/** Starts a command on a terminal. */
export async function openTerminal(
  host: Host,
  found: Found,
  spec: ExecSpec,
  size: TerminalSize,
): Promise<Terminal> {
  const entry = await Entry.open(host, found, spec, { terminal: size });
  const channel = new Channel<Uint8Array>();
  const brake = new Brake((frozen) => void entry.freeze(frozen));
  const child = Bun.spawn([...entry.argv], {
    env: { ...HOST_ENV, TERM: 'xterm-256color' },
    cwd: '/',
    terminal: {
      ...size,
      data: (_, bytes) => {
        brake.add(bytes.length);
        channel.push(bytes.slice()).then(() => brake.drained());
      },
      exit: () => channel.end(),
    },
  });
  const terminal = child.terminal;
  if (!terminal) throw new Error('this Bun has no terminals');
  // The outer terminal only carries bytes, from the first one on: the inner one echoes and translates.
  terminal.setRawMode(true);
  // The runtime throws away what was typed before it is ready, and gives the size when the program already runs.
  const begun = entry.begun();
  let wanted = size;
  void passOn(child.pid, () => wanted);
  const exited = child.exited.then(() => {
    const exit = entry.exit(codeOf(child));
    entry.forget();
    return exit;
  });
  return {
    output: channel,
    exited,
    async write(bytes) {
      await begun;
      if (!terminal.closed) terminal.write(bytes as Uint8Array<ArrayBuffer>);
    },
    resize(changed) {
      if (terminal.closed) return;
      wanted = changed;
      terminal.resize(changed.cols, changed.rows);
      void passOn(child.pid, () => wanted);
    },
    kill: (signal) => entry.kill(signal),
  };
}

/**
 * Gives the size to the terminal inside, whose master end the runtime holds: crun does not pass a change on, and
 * gives the first size late. The runtime may not have got there yet.
 */
async function passOn(runtimePid: number, size: () => TerminalSize): Promise<void> {
  for (let tries = 0; tries < 1_000; tries++) {
    const masters = masterEnds(runtimePid);
    for (const descriptor of masters) {
      try {
        resizeTerminal(runtimePid, descriptor, size(), closeSync);
      } catch {
        // The runtime has ended, and its terminal with it.
      }
    }
    if (masters.length > 0) return;
    await Bun.sleep(2);
  }
}

function masterEnds(pid: number): number[] {
  const dir = `/proc/${pid}/fd`;
  try {
    return readdirSync(dir)
      .filter((fd) => readlinkSync(`${dir}/${fd}`).endsWith('/ptmx'))
      .map(Number);
  } catch {
    return [];
  }
}

/** A terminal cannot be read slowly: when too much waits, the command is frozen until its reader has caught up. */
class Brake {
  private waiting = 0;
  private frozen = false;

  constructor(private readonly set: (frozen: boolean) => void) {}

  add(bytes: number): void {
    this.waiting += bytes;
    if (this.waiting > HIGH_WATER && !this.frozen) this.turn(true);
  }

  /** The reader has taken everything. */
  drained(): void {
    this.waiting = 0;
    if (this.frozen) this.turn(false);
  }

  private turn(frozen: boolean): void {
    this.frozen = frozen;
    this.set(frozen);
  }
}
