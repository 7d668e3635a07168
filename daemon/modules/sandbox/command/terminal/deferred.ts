import { PtyStart } from '../../../../../src/api/sandbox/command.ts';
import type { Value } from '../../../../../src/api/schema.ts';
import { asAppError, invalid } from '../../../../../src/errors/app-error.ts';
import { SECOND_MS } from '../../../../../src/kit/time.ts';
import type { SocketSession, SocketWriter } from '../../../../http/route.ts';
import { validator } from '../../../../http/validate.ts';
import { CLOSE, parseJson } from './frames.ts';

const START_MS = 10 * SECOND_MS;
/** Frames that may come while the command is being started. */
const MAX_EARLY = 64;
const start = validator(PtyStart, 'native');

/**
 * Waits for a first text frame that says what to start: an address is no place for long command lines or for
 * what is in an environment.
 */
export class DeferredSession implements SocketSession {
  private socket: SocketWriter | undefined;
  private session: SocketSession | undefined;
  private late: Timer | undefined;
  private readonly early: Array<string | Uint8Array> = [];
  private isStarted = false;
  private closedBy: readonly [code: number, reason: string] | undefined;

  constructor(private readonly begin: (request: Value<typeof PtyStart>) => Promise<SocketSession>) {}

  open(socket: SocketWriter): void {
    this.socket = socket;
    const refuse = () => this.refuse(invalid({ field: 'start', description: 'did not come in time' }));
    this.late = setTimeout(refuse, START_MS);
  }

  message(data: string | Uint8Array): void {
    if (this.session) this.session.message(data);
    else if (!this.isStarted) {
      this.isStarted = true;
      clearTimeout(this.late);
      void this.start(data).catch((error: unknown) => this.refuse(error));
    } else if (this.early.length < MAX_EARLY) this.early.push(typeof data === 'string' ? data : data.slice());
    else this.refuse(invalid({ field: 'frames', description: 'are too many before the command has begun' }));
  }

  closed(code: number, reason: string): void {
    clearTimeout(this.late);
    this.closedBy = [code, reason];
    this.session?.closed(code, reason);
  }

  private async start(data: string | Uint8Array): Promise<void> {
    const frame = typeof data === 'string' ? parseJson(data) : undefined;
    if (frame?.type !== 'start')
      throw invalid({ field: 'start', description: 'must be the first frame: {"type": "start", ...}' });
    const session = await this.begin(start.check(frame) as Value<typeof PtyStart>);
    const { socket } = this;
    if (!socket) return;
    this.session = session;
    session.open(socket);
    for (const one of this.early.splice(0)) session.message(one);
    if (this.closedBy) session.closed(...this.closedBy);
  }

  private refuse(error: unknown): void {
    const { code, message } = asAppError(error);
    this.socket?.send(JSON.stringify({ type: 'error', code, message }));
    this.socket?.close(CLOSE.badStart, 'not started');
  }
}
