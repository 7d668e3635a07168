import { AppError, fail } from '../../src/errors/app-error.ts';
import type { OutputStream } from '../ui/terminal.ts';
import { type CommandExit, inputFrame, readFrame, type ServerFrame, TAKEN_OVER } from './frame.ts';

/** Largest piece of input in one frame. */
const FRAME_BYTES = 64 * 1024;
/** Input that waits for the network: above HIGH nothing more is read, until it falls below LOW. */
const HIGH_WATER = 1024 * 1024;
const LOW_WATER = 256 * 1024;
const POLL_MS = 5;
const CTRL_C = 3;
/** Any code but 1000 leaves a terminal as it is. */
const WINDOW_GONE = 4000;

/** Bun's WebSocket can stop reading, which holds the command back. */
type PausableSocket = WebSocket & { pause(): boolean; resume(): boolean };

/** Signals that a command can be sent. */
export type CommandSignal = 'SIGINT' | 'SIGTERM' | 'SIGKILL' | 'SIGHUP';

/** Where a terminal goes on whose connection dropped. */
export interface Place {
  readonly session: string;
  /** Offset of the first byte that did not come. */
  readonly since: number;
}

/** What a session is given besides its socket. */
export interface SessionOptions {
  readonly streams: { readonly stdout: OutputStream; readonly stderr: OutputStream };
  readonly url: string;
  /** Connects again to where it was; without it, a connection that drops is the end. */
  readonly reconnect?: (place: Place) => Promise<WebSocket>;
}

/** A command at the other end of a socket: its output goes to two streams, its end comes from `exited`. */
export class CommandSession {
  /** How it ended. Rejects with `unreachable` when the connection is lost before that. */
  readonly exited: Promise<CommandExit>;
  /** Called when a terminal whose connection had dropped is there again. */
  onReconnected: () => void = () => undefined;
  private socket: WebSocket;
  private place: Place | undefined;
  private isConnected = true;
  private ended = false;
  private settle: { resolve(exit: CommandExit): void; reject(error: unknown): void };

  constructor(
    socket: WebSocket,
    private readonly options: SessionOptions,
  ) {
    const { promise, resolve, reject } = Promise.withResolvers<CommandExit>();
    this.exited = promise;
    this.settle = { resolve, reject };
    this.socket = socket;
    this.listen(socket);
  }

  /** Sends all of a stream to stdin and closes it there. Reads no faster than the command takes. */
  async feed(input: ReadableStream<Uint8Array>): Promise<void> {
    await this.send(input);
    this.say({ type: 'eof' });
  }

  /** Sends what is typed. When the window it is typed in is gone, the terminal stays for another one. */
  async feedKeys(input: ReadableStream<Uint8Array>): Promise<void> {
    await this.send(input);
    this.end(() => this.settle.reject(fail('cancelled')));
    this.socket.close(WINDOW_GONE);
  }

  private async send(input: ReadableStream<Uint8Array>): Promise<void> {
    for await (const chunk of input) {
      if (!this.isConnected && chunk.includes(CTRL_C)) this.leave(fail('cancelled'));
      for (let at = 0; at < chunk.length; at += FRAME_BYTES) {
        await this.roomToSend();
        if (this.ended) return;
        this.socket.send(inputFrame(chunk.subarray(at, at + FRAME_BYTES)));
      }
    }
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

  private listen(socket: WebSocket): void {
    socket.addEventListener('message', ({ data }) => this.take(readFrame(data)));
    socket.addEventListener('close', ({ code, reason }) => void this.lose(code, reason));
  }

  private say(message: object): void {
    if (!this.ended && this.isConnected) this.socket.send(JSON.stringify(message));
  }

  private async roomToSend(): Promise<void> {
    while (!this.ended && !this.isConnected) await Bun.sleep(POLL_MS);
    if (this.socket.bufferedAmount <= HIGH_WATER) return;
    while (!this.ended && this.socket.bufferedAmount > LOW_WATER) await Bun.sleep(POLL_MS);
  }

  private take(frame: ServerFrame | undefined): void {
    if (frame?.type === 'output') this.show(this.options.streams[frame.channel], frame.bytes);
    else if (frame?.type === 'ready') this.move(frame.id, frame.offset);
    else if (frame?.type === 'gap') this.move(this.place?.session ?? '', frame.to);
    else if (frame?.type === 'exit') this.end(() => this.settle.resolve(frame));
    else if (frame?.type === 'error') {
      const { message } = frame;
      this.end(() => this.settle.reject(fail('failed_precondition', { message })));
    }
  }

  private move(session: string, since: number | undefined): void {
    if (since !== undefined) this.place = { session, since };
  }

  private show(stream: OutputStream, bytes: Uint8Array): void {
    if (this.place) this.place = { ...this.place, since: this.place.since + bytes.length };
    if (stream.write(bytes)) return;
    const socket = this.socket as PausableSocket;
    socket.pause();
    void stream.drained().then(() => socket.resume());
  }

  private async lose(code: number, reason: string): Promise<void> {
    if (this.ended) return;
    this.isConnected = false;
    if (code === TAKEN_OVER) return this.end(() => this.settle.reject(takenOver(this.place?.session ?? '')));
    if (!this.place || !this.options.reconnect) return this.giveUp(reason);
    try {
      const socket = await this.options.reconnect(this.place);
      if (this.ended) return socket.close();
      this.socket = socket;
      this.isConnected = true;
      this.listen(socket);
      this.onReconnected();
    } catch (error) {
      if (error instanceof AppError && error.code === 'unreachable') this.giveUp(reason);
      else this.end(() => this.settle.reject(error));
    }
  }

  private giveUp(reason: string): void {
    const why = `the connection was lost${reason && ` (${reason})`}; the daemon ends the command when it notices`;
    this.end(() => this.settle.reject(fail('unreachable', { url: this.options.url, why })));
  }

  private end(settle: () => void): void {
    if (this.ended) return;
    this.ended = true;
    settle();
  }
}

function takenOver(session: string): AppError {
  return fail('failed_precondition', {
    message: `Another connection has taken this terminal over. Take it back: svc sandbox shell NAME --attach ${session}`,
  });
}
