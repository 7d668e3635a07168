import type { SocketSession, SocketWriter } from '../../../../http/route.ts';
import type { Log } from '../../../../log/log.ts';
import type { Execution } from '../../drivers/driver.ts';
import { type CommandService, type Running, reasonOf } from '../service.ts';
import { CHANNEL, CONTROL_FORM, frame, parseControl } from './frames.ts';
import { SocketInput } from './input.ts';

/**
 * Serves a command on plain pipes over a WebSocket. Binary frames carry bytes behind a channel byte (0 stdin,
 * 1 stdout, 2 stderr); JSON text frames carry control: `ready`, `exit`, `error` to the peer; `signal`, `eof`,
 * `ping` from it. A peer that leaves hangs up on the command.
 */
export class PipeSession implements SocketSession {
  private socket: SocketWriter | undefined;
  private typed: SocketInput | undefined;
  private isGone = false;

  constructor(
    private readonly commands: CommandService,
    private readonly running: Running<Execution>,
    private readonly log: Log,
  ) {}

  open(socket: SocketWriter): void {
    this.socket = socket;
    this.typed = new SocketInput(socket, (bytes) => this.running.process.write(bytes));
    this.say({ type: 'ready', id: this.running.row.id });
    void this.pump(socket)
      .catch((error) => {
        this.log.warn('a command on a socket broke', { command: this.running.row.id, error });
        socket.close(1011, 'the command broke');
      })
      .finally(() => this.running.log.close());
  }

  message(data: string | Uint8Array): void {
    if (typeof data === 'string') this.control(data);
    else if (data[0] === CHANNEL.stdin) this.typed?.take(data.slice(1));
  }

  closed(): void {
    this.isGone = true;
    void this.commands.end(this.running.row.id, 'SIGHUP').catch(() => undefined);
  }

  private async pump(socket: SocketWriter): Promise<void> {
    for await (const { channel, bytes } of this.running.process.output) {
      this.running.head.add(channel, bytes);
      await this.running.log.write(bytes);
      if (!this.isGone && !socket.send(frame(CHANNEL[channel], bytes))) await socket.drained();
    }
    const ended = await this.running.ended;
    this.say({ type: 'exit', code: ended.code, signal: ended.signal, message: reasonOf(ended) });
    socket.close(1000, 'exited');
  }

  private control(text: string): void {
    const message = parseControl(text);
    const { process } = this.running;
    if (!message) this.say({ type: 'error', message: CONTROL_FORM });
    else if (message.type === 'signal') void process.kill(message.signal).catch(() => undefined);
    else if (message.type === 'eof') void process.endInput().catch(() => undefined);
    else if (message.type === 'ping') this.say({ type: 'pong' });
  }

  private say(message: object): void {
    if (!this.isGone) this.socket?.send(JSON.stringify(message));
  }
}
