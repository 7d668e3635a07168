import type { SocketSession, SocketWriter } from '../../../../http/route.ts';
import { reasonOf } from '../service.ts';
import { CHANNEL, CLOSE, CONTROL_FORM, frame, parseControl } from './frames.ts';
import type { TerminalHub, Watcher } from './hub.ts';
import { SocketInput } from './input.ts';

/** Largest piece of output in one frame. */
const FRAME_BYTES = 64 * 1024;
const NORMAL = 1000;

/** How a connection takes part. */
export interface Part {
  readonly mode: 'control' | 'view';
  /** Offset from which it wants what was printed. */
  readonly since: number;
  /** It comes to a terminal that was there before. */
  readonly isAttached: boolean;
}

/**
 * One connection to a terminal. It is told `ready` with the offset of the first byte that it gets; what was printed
 * before it came is on the replay channel, then comes `live`. A connection that falls out of what is kept is told
 * `gap`. When the peer closes with 1000 it hangs up; any other way it is missed for a while.
 */
export class TerminalConnection implements SocketSession, Watcher {
  readonly mode: Part['mode'];
  private cursor = 0;
  private liveFrom = 0;
  private socket: SocketWriter | undefined;
  private typed: SocketInput | undefined;
  private isGone = false;

  /** `onHangUp` ends the terminal. */
  constructor(
    private readonly hub: TerminalHub,
    private readonly part: Part,
    private readonly onHangUp: () => void,
  ) {
    this.mode = part.mode;
  }

  get position(): number {
    return this.cursor;
  }

  open(socket: SocketWriter): void {
    this.socket = socket;
    this.typed = new SocketInput(socket, (bytes) => this.hub.write(bytes));
    const { ring, row, size } = this.hub;
    this.cursor = Math.min(Math.max(this.part.since, ring.start), ring.end);
    this.liveFrom = this.part.isAttached ? ring.end : this.cursor;
    this.hub.attach(this);
    this.say({ type: 'ready', id: row.id, session: row.id, offset: this.cursor, mode: this.mode, ...size });
    if (this.part.isAttached && this.cursor === this.liveFrom)
      this.say({ type: 'live', offset: this.cursor });
    void this.pump(socket).catch(() => socket.close(1011, 'the terminal broke'));
  }

  message(data: string | Uint8Array): void {
    if (typeof data === 'string') this.control(data);
    else if (data[0] === CHANNEL.stdin && this.mode === 'control') this.typed?.take(data.slice(1));
  }

  closed(code: number): void {
    this.isGone = true;
    this.hub.detach(this);
    if (!this.socket && !this.part.isAttached) this.onHangUp();
    else if (code === NORMAL && this.mode === 'control' && !this.hub.controller) this.onHangUp();
  }

  yieldKeyboard(): void {
    this.isGone = true;
    this.hub.detach(this);
    this.socket?.close(CLOSE.takenOver, 'taken over');
  }

  private async pump(socket: SocketWriter): Promise<void> {
    while (!this.isGone) {
      if (this.cursor < this.hub.ring.end) await this.sendSome(socket);
      else if (this.hub.ended) return this.leave(socket);
      else await this.hub.change();
    }
  }

  private async sendSome(socket: SocketWriter): Promise<void> {
    const { start } = this.hub.ring;
    if (this.cursor < start) {
      this.say({ type: 'gap', from: this.cursor, to: start });
      this.cursor = start;
    }
    const isReplay = this.cursor < this.liveFrom;
    const most = isReplay ? Math.min(FRAME_BYTES, this.liveFrom - this.cursor) : FRAME_BYTES;
    const bytes = this.hub.ring.read(this.cursor, most);
    const hasRoom = socket.send(frame(isReplay ? CHANNEL.replay : CHANNEL.stdout, bytes));
    this.cursor += bytes.length;
    if (isReplay && this.cursor >= this.liveFrom) this.say({ type: 'live', offset: this.cursor });
    if (!hasRoom) await socket.drained();
    this.hub.wake();
  }

  private leave(socket: SocketWriter): void {
    const { ended } = this.hub;
    if (ended) this.say({ type: 'exit', code: ended.code, signal: ended.signal, message: reasonOf(ended) });
    socket.close(NORMAL, 'exited');
  }

  private control(text: string): void {
    const message = parseControl(text);
    if (!message) this.say({ type: 'error', message: CONTROL_FORM });
    else if (message.type === 'ping') this.say({ type: 'pong' });
    else if (this.mode === 'view') return;
    else if (message.type === 'resize') this.hub.resize({ cols: message.cols, rows: message.rows });
    else if (message.type === 'signal') this.hub.signal(message.signal);
    else void this.hub.write(new Uint8Array([4])).catch(() => undefined);
  }

  private say(message: object): void {
    if (!this.isGone) this.socket?.send(JSON.stringify(message));
  }
}
