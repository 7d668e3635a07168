import { newSecret } from '../../../../src/kit/id.ts';
import type { Execution, Exit } from '../../sandbox/index.ts';
import { MOST_RESULT } from '../outcome.ts';
import { LogHead } from './log-head.ts';

/** The longest answer, with what is around the result. */
const MOST_LINE = MOST_RESULT + 64 * 1024;

/** What came of an order. */
export type Reply =
  | { readonly kind: 'result'; readonly result: unknown; readonly logs: string }
  /** The code has thrown. */
  | { readonly kind: 'error'; readonly error: string; readonly logs: string }
  /** The program is gone, or speaks no sense. */
  | { readonly kind: 'ended'; readonly exit?: Exit; readonly last: string; readonly logs: string }
  | { readonly kind: 'timeout'; readonly logs: string }
  | { readonly kind: 'cancelled' };

/** What a program is to do. */
export type Order =
  | { readonly op: 'load'; readonly code: string }
  | { readonly op: 'call'; readonly args: unknown; readonly most: number };

type Answer = { readonly result: unknown } | { readonly error: string };
type End = Extract<Reply, { kind: 'ended' | 'timeout' | 'cancelled' }>['kind'];

/** Orders to a program that runs a function, one at a time. What it says is not trusted. */
export class Conversation {
  /** How it ended; undefined while it runs. */
  exit: Exit | undefined;
  private logs = new LogHead('');
  private waiting: PromiseWithResolvers<Answer | undefined> | undefined;
  private parts: Uint8Array[] = [];
  private size = 0;

  /** `onEnd` is told when the program is gone. */
  constructor(
    private readonly process: Execution,
    onEnd: () => void,
  ) {
    void this.read().finally(onEnd);
  }

  /** Gives an order and waits for what comes of it. */
  async ask(order: Order, timeoutMs: number, signal: AbortSignal): Promise<Reply> {
    const waiting = Promise.withResolvers<Answer | undefined>();
    const cut = Promise.withResolvers<End>();
    const logs = new LogHead(`\0${newSecret()}\n`);
    [this.waiting, this.logs] = [waiting, logs];
    const timer = setTimeout(() => cut.resolve('timeout'), timeoutMs);
    const leave = () => cut.resolve('cancelled');
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
    if (this.exit) waiting.resolve(undefined);
    // A program that is gone reads nothing: its end says more than the pipe does.
    this.process
      .write(Buffer.from(`${JSON.stringify({ ...order, mark: logs.mark })}\n`))
      .catch(() => undefined);
    try {
      return await this.reply(await Promise.race([waiting.promise, cut.promise]), logs);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
      this.waiting = undefined;
    }
  }

  /** Ends the program and all it started. */
  async kill(): Promise<void> {
    await this.process.kill('SIGKILL').catch(() => undefined);
  }

  private async reply(came: Answer | End | undefined, logs: LogHead): Promise<Reply> {
    if (came === 'cancelled') return { kind: 'cancelled' };
    if (came === 'timeout') return { kind: 'timeout', logs: logs.now() };
    if (typeof came !== 'object')
      return { kind: 'ended', exit: this.exit, last: logs.last(), logs: logs.now() };
    const text = await logs.text();
    return 'error' in came
      ? { kind: 'error', error: came.error, logs: text }
      : { kind: 'result', result: came.result, logs: text };
  }

  private async read(): Promise<void> {
    try {
      for await (const { channel, bytes } of this.process.output)
        if (channel === 'stderr') this.logs.add(bytes);
        else this.take(bytes);
    } finally {
      this.exit = await this.process.exited.catch(() => ({ code: -1 }));
      this.waiting?.resolve(undefined);
    }
  }

  private take(bytes: Uint8Array): void {
    for (let rest = bytes; rest.length > 0; ) {
      const at = rest.indexOf(10);
      const part = at === -1 ? rest : rest.subarray(0, at);
      this.size += part.length;
      if (this.size > MOST_LINE) {
        this.refuse();
        return;
      }
      this.parts.push(part);
      if (at === -1) return;
      this.finish(Buffer.concat(this.parts).toString());
      rest = rest.subarray(at + 1);
    }
  }

  private finish(line: string): void {
    [this.parts, this.size] = [[], 0];
    const answer = readAnswer(line);
    if (!answer || !this.waiting) this.refuse();
    else {
      this.waiting.resolve(answer);
      this.waiting = undefined;
    }
  }

  /** A program that says what it was not asked for is ended. */
  private refuse(): void {
    [this.parts, this.size] = [[], 0];
    void this.kill();
  }
}

function readAnswer(line: string): Answer | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== 'object' || value === null) return undefined;
    if ('error' in value && typeof value.error === 'string') return { error: value.error };
    return 'result' in value ? { result: value.result } : undefined;
  } catch {
    return undefined;
  }
}
