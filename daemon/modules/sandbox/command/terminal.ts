import type { SocketSession, SocketWriter } from '../../../http/route.ts';
import type { Log } from '../../../log/log.ts';
import type { Execution, Terminal } from '../drivers/driver.ts';
import { type CommandService, type Running, reasonOf } from './service.ts';

/** Channel bytes of binary frames. */
const STDIN = 0;
const CHANNEL = { stdout: 1, stderr: 2 } as const;

/** Input that waits for the process: above HIGH the peer is held back, until it falls below LOW. */
const HIGH_WATER = 1024 * 1024;
const LOW_WATER = 256 * 1024;
/** What was read before the peer was held back fits in here; a peer that sends more is cut off. */
const MAX_WAITING_INPUT = 16 * 1024 * 1024;

type Control =
  | { readonly type: 'resize'; readonly cols: number; readonly rows: number }
  | { readonly type: 'signal'; readonly signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL' | 'SIGHUP' }
  | { readonly type: 'eof' }
  | { readonly type: 'ping' };

/** What a terminal and a pipe have in common, seen from the socket. */
interface Peer {
  readonly output: AsyncIterable<{ readonly channel: 'stdout' | 'stderr'; readonly bytes: Uint8Array }>;
  write(bytes: Uint8Array): Promise<void>;
  end(): Promise<void>;
  resize(cols: number, rows: number): void;
}

/**
 * Serves a command on a WebSocket. Binary frames carry bytes behind a channel byte (0 stdin, 1 stdout,
 * 2 stderr); JSON text frames carry control: `ready`, `exit`, `error` to the peer; `resize`, `signal`,
 * `eof`, `ping` from it. A peer that leaves hangs up on the command.
 */
export class TerminalSession implements SocketSession {
  private socket: SocketWriter | undefined;
  private waitingInput = 0;
  private gone = false;

  constructor(
    private readonly commands: CommandService,
    private readonly running: Running<Terminal> | Running<Execution>,
    private readonly peer: Peer,
    private readonly log: Log,
  ) {}

  open(socket: SocketWriter): void {
    this.socket = socket;
    this.say({ type: 'ready', id: this.running.row.id });
    void this.pump(socket)
      .catch((error) => {
        this.log.warn('a terminal broke', { command: this.running.row.id, error });
        socket.close(1011, 'the terminal broke');
      })
      .finally(() => this.running.log.close());
  }

  message(data: string | Uint8Array): void {
    if (typeof data === 'string') this.control(data);
    else if (data[0] === STDIN) this.input(data.slice(1));
  }

  closed(): void {
    this.gone = true;
    void this.commands.end(this.running.row.id, 'SIGHUP').catch(() => undefined);
  }

  private async pump(socket: SocketWriter): Promise<void> {
    for await (const { channel, bytes } of this.peer.output) {
      this.running.head.add(channel, bytes);
      await this.running.log.write(bytes);
      if (!this.gone && !socket.send(frame(CHANNEL[channel], bytes))) await socket.drained();
    }
    const ended = await this.running.ended;
    this.say({ type: 'exit', code: ended.code, signal: ended.signal, message: reasonOf(ended) });
    socket.close(1000, 'exited');
  }

  private input(bytes: Uint8Array): void {
    this.waitingInput += bytes.length;
    if (this.waitingInput > MAX_WAITING_INPUT) {
      this.socket?.close(1009, 'more input than the command reads');
      return;
    }
    if (this.waitingInput > HIGH_WATER) this.socket?.pause();
    const taken = () => {
      this.waitingInput -= bytes.length;
      if (this.waitingInput <= LOW_WATER) this.socket?.resume();
    };
    void this.peer.write(bytes).then(taken, taken);
  }

  private control(text: string): void {
    const message = parseControl(text);
    if (!message)
      this.say({
        type: 'error',
        message: 'a text frame must be {"type": "resize" | "signal" | "eof" | "ping", ...}',
      });
    else if (message.type === 'resize') this.peer.resize(message.cols, message.rows);
    else if (message.type === 'signal') void this.running.process.kill(message.signal).catch(() => undefined);
    else if (message.type === 'eof') void this.peer.end().catch(() => undefined);
    else this.say({ type: 'pong' });
  }

  private say(message: object): void {
    if (!this.gone) this.socket?.send(JSON.stringify(message));
  }
}

/** A terminal as the socket sees it: all output is stdout, the end of input is Ctrl-D. */
export function terminalPeer({ process }: Running<Terminal>): Peer {
  const output = (async function* () {
    for await (const bytes of process.output) yield { channel: 'stdout' as const, bytes };
  })();
  return {
    output,
    write: (bytes) => process.write(bytes),
    end: () => process.write(new Uint8Array([4])),
    resize: (cols, rows) => process.resize({ cols, rows }),
  };
}

/** Plain pipes as the socket sees them. */
export function pipePeer({ process }: Running<Execution>): Peer {
  return {
    output: process.output,
    write: (bytes) => process.write(bytes),
    end: () => process.endInput(),
    resize: () => undefined,
  };
}

function frame(channel: number, bytes: Uint8Array): Uint8Array {
  const result = new Uint8Array(bytes.length + 1);
  result[0] = channel;
  result.set(bytes, 1);
  return result;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGKILL', 'SIGHUP'];

function parseControl(text: string): Control | undefined {
  const message = parseJson(text);
  if (message?.type === 'eof' || message?.type === 'ping') return { type: message.type };
  if (message?.type === 'signal' && SIGNALS.includes(String(message.signal))) return message as Control;
  const isSize = (value: unknown) => Number.isInteger(value) && Number(value) > 0 && Number(value) <= 10_000;
  return message?.type === 'resize' && isSize(message.cols) && isSize(message.rows)
    ? (message as Control)
    : undefined;
}

function parseJson(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
