import { type AppError, fail } from '../../src/errors/app-error.ts';
import type { OutputStream } from '../ui/terminal.ts';
import { type CommandExit, inputFrame, readFrame, type ServerFrame } from './frame.ts';

/** Largest piece of input in one frame. */
const FRAME_BYTES = 64 * 1024;
/** Input that waits for the network: above HIGH nothing more is read, until it falls below LOW. */
const HIGH_WATER = 1024 * 1024;
const LOW_WATER = 256 * 1024;
const DRAIN_POLL_MS = 5;

/** Bun's WebSocket can stop reading, which holds the command back. */
type PausableSocket = WebSocket & { pause(): boolean; resume(): boolean };

/** Signals that a command can be sent. */
export type CommandSignal = 'SIGINT' | 'SIGTERM' | 'SIGKILL' | 'SIGHUP';

/** A command at the other end of a socket: its output goes to two streams, its end comes from `exited`. */
export class CommandSession {
  /** How it ended. Rejects with `unreachable` when the connection is lost before that. */
  readonly exited: Promise<CommandExit>;
  private ended = false;
  private settle: { resolve(exit: CommandExit): void; reject(error: AppError): void };

  constructor(
    private readonly socket: WebSocket,
    private readonly streams: { readonly stdout: OutputStream; readonly stderr: OutputStream },
    private readonly url: string,
  ) {
    const { promise, resolve, reject } = Promise.withResolvers<CommandExit>();
    this.exited = promise;
    this.settle = { resolve, reject };
    socket.addEventListener('message', ({ data }) => this.take(readFrame(data)));
    socket.addEventListener('close', ({ reason }) => this.lose(reason));
  }

  /** Sends all of a stream to stdin and closes it there. Reads no faster than the command takes. */
  async feed(input: ReadableStream<Uint8Array>): Promise<void> {
    for await (const chunk of input) {
      for (let at = 0; at < chunk.length; at += FRAME_BYTES) {
        await this.roomToSend();
        if (this.ended) return;
        this.socket.send(inputFrame(chunk.subarray(at, at + FRAME_BYTES)));
      }
    }
    this.say({ type: 'eof' });
  }

  signal(signal: CommandSignal): void {
    this.say({ type: 'signal', signal });
  }

  resize(cols: number, rows: number): void {
    this.say({ type: 'resize', cols, rows });
  }

  /** Leaves with this error: the daemon hangs up on the command. */
  leave(error: AppError): void {
    this.end(() => this.settle.reject(error));
    this.socket.close();
  }

  private say(message: object): void {
    if (!this.ended) this.socket.send(JSON.stringify(message));
  }

  private async roomToSend(): Promise<void> {
    if (this.socket.bufferedAmount <= HIGH_WATER) return;
    while (!this.ended && this.socket.bufferedAmount > LOW_WATER) await Bun.sleep(DRAIN_POLL_MS);
  }

  private take(frame: ServerFrame | undefined): void {
    if (frame?.type === 'output') this.show(this.streams[frame.channel], frame.bytes);
    else if (frame?.type === 'exit') this.end(() => this.settle.resolve(frame));
    else if (frame?.type === 'error') {
      const { message } = frame;
      this.end(() => this.settle.reject(fail('failed_precondition', { message })));
    }
  }

  private show(stream: OutputStream, bytes: Uint8Array): void {
    if (stream.write(bytes)) return;
    const socket = this.socket as PausableSocket;
    socket.pause();
    void stream.drained().then(() => socket.resume());
  }

  private lose(reason: string): void {
    const why = `the connection was lost${reason && ` (${reason})`}; the daemon ends the command when it notices`;
    this.end(() => this.settle.reject(fail('unreachable', { url: this.url, why })));
  }

  private end(settle: () => void): void {
    if (this.ended) return;
    this.ended = true;
    settle();
  }
}
