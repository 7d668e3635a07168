import { fail } from '../../../../src/errors/app-error.ts';
import { newSecret } from '../../../../src/kit/id.ts';
import { SECOND_MS } from '../../../../src/kit/time.ts';
import type { Exit, OutputChunk } from '../drivers/driver.ts';
import type { Kernel, KernelPiece } from './kernel.ts';
import type { KernelMessage } from './marks.ts';
import type { Outcome, Run } from './run.ts';
import type { CodeContextRow } from './tables.ts';

/** Runs that wait in one context before more are refused. */
const MAX_QUEUE = 32;
/** Output between two runs that is kept for the next one. */
const MAX_BETWEEN = 64 * 1024;
/** What an interrupt is given before the next, harder one. */
const POLITE_MS = SECOND_MS;
const SIGINT_MS = 3 * SECOND_MS;
const INTERRUPTED = 130;
const KILLED = 137;

/** An interpreter with its variables: runs one piece of code after the other. */
export class CodeContext {
  /** Why it has ended, once it has. */
  ended: string | undefined;
  /** Resolves when it has ended. */
  readonly whenEnded: Promise<void>;
  private readonly resolveEnded: () => void;
  private readonly queue: Run[] = [];
  private readonly between: OutputChunk[] = [];
  private betweenBytes = 0;
  private current: Run | undefined;
  private count = 0;
  private ends: { stdout?: KernelMessage; stderr?: KernelMessage } = {};
  private left: number | undefined;
  private reason: string | undefined;

  /** `onEnd` is called once, with why; `onIdle` each time when nothing runs any more. */
  constructor(
    readonly row: CodeContextRow,
    private readonly kernel: Kernel,
    private readonly onEnd: (why: string) => void,
    private readonly onIdle: () => void,
  ) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.whenEnded = promise;
    this.resolveEnded = resolve;
    void this.pump().catch(() => this.end('its interpreter was lost'));
  }

  get isBusy(): boolean {
    return this.current !== undefined;
  }

  /** Refuses what there is no room for. Errors: context_ended, resource_exhausted. */
  checkRoom(): void {
    const { id, language } = this.row;
    if (this.ended !== undefined) throw fail('context_ended', { id, why: this.ended, language });
    if (this.queue.length >= MAX_QUEUE)
      throw fail('resource_exhausted', {
        message: `${MAX_QUEUE} pieces of code wait in the context ${id} already.`,
      });
  }

  /** Runs code when all before it has ended. Its run tells how it goes. */
  submit(run: Run): void {
    if (this.current === undefined) this.begin(run);
    else {
      this.queue.push(run);
      void run.events.push({ type: 'queued' });
    }
  }

  /**
   * Stops what runs: by its kernel, so that nothing else ends that the context has started; then all of the context
   * by SIGINT; then by SIGKILL, which ends the context. Errors: failed_precondition when nothing runs.
   */
  async interrupt(): Promise<void> {
    const run = this.current;
    if (!run)
      throw fail('failed_precondition', { message: `Nothing runs in the context ${this.row.id} now.` });
    const isPolite = await this.kernel.interrupt(this.count).catch(() => false);
    if (!isPolite) await this.kernel.kill('SIGINT');
    void this.insist(run, isPolite);
  }

  /** Takes a run back whose caller has left. */
  async withdraw(run: Run): Promise<void> {
    run.events.abandon();
    await this.stop(run);
  }

  /** Ends a run: one that waits never begins, the one that runs is interrupted. */
  async stop(run: Run): Promise<void> {
    const at = this.queue.indexOf(run);
    if (at >= 0) this.queue.splice(at, 1);
    if (at >= 0) await run.finish({ exitCode: INTERRUPTED, error: WITHDRAWN });
    else if (this.current === run) await this.interrupt();
  }

  /** Ends it and all it has started. */
  async close(reason: string): Promise<void> {
    this.reason ??= reason;
    await this.kernel.kill('SIGKILL');
    await this.end(this.reason);
  }

  private async insist(run: Run, wasPolite: boolean): Promise<void> {
    const isDone = (ms: number) => Promise.race([run.done.then(() => true), Bun.sleep(ms).then(() => false)]);
    if (wasPolite && !(await isDone(POLITE_MS))) await this.kernel.kill('SIGINT');
    if (await isDone(SIGINT_MS)) return;
    await this.close('its code did not stop when it was interrupted, so it was killed');
  }

  private begin(run: Run): void {
    this.current = run;
    this.count++;
    this.ends = {};
    const order = { token: newSecret(), count: this.count, code: run.code };
    void run.events.push({ type: 'started', count: this.count });
    const chunks = this.between.splice(0);
    this.betweenBytes = 0;
    for (const chunk of chunks) void run.output(chunk);
    // When it cannot be told any more, its outputs end, and the pump says why.
    void this.kernel.run(order).catch(() => undefined);
  }

  private async pump(): Promise<void> {
    for (let piece = await this.kernel.next(); piece; piece = await this.kernel.next())
      await this.take(piece);
    await this.end(this.reason ?? this.whyDied(await this.kernel.exited));
  }

  private async take(piece: KernelPiece): Promise<void> {
    if ('bytes' in piece) return this.print(piece);
    if ('broken' in piece)
      return this.print({ channel: 'stderr', bytes: new TextEncoder().encode(`${piece.broken}\n`) });
    const { message, channel } = piece;
    if (message.type === 'need') await this.kernel.provide(message.name ?? '');
    else if (message.type === 'leave') this.left = message.code ?? 0;
    else if (message.type === 'result')
      await this.current?.events.push({ type: 'result', data: message.data ?? {} });
    else if (message.type === 'end') await this.takeEnd(channel, message);
  }

  /** A run has ended when both outputs say so: all that it printed has come then. */
  private async takeEnd(channel: OutputChunk['channel'], message: KernelMessage): Promise<void> {
    this.ends[channel] = message;
    const { current, ends } = this;
    if (!current || !ends.stdout || !ends.stderr) return;
    this.current = undefined;
    const next = this.queue.shift();
    await current.finish(outcomeOf(ends.stdout));
    if (next) this.begin(next);
    else this.onIdle();
  }

  private async print({ channel, bytes }: OutputChunk): Promise<void> {
    if (this.current) return this.current.output({ channel, bytes });
    const kept = bytes.slice(0, MAX_BETWEEN - this.betweenBytes);
    this.betweenBytes += kept.length;
    if (kept.length > 0) this.between.push({ channel, bytes: kept });
  }

  private whyDied({ code, signal, outOfMemory }: Exit): string {
    if (outOfMemory) return 'the sandbox ran out of memory';
    if (this.left !== undefined) return `its code left it with exit code ${this.left}`;
    if (signal) return `its interpreter was ended by ${signal}`;
    return `its interpreter ended with exit code ${code}`;
  }

  private async end(why: string): Promise<void> {
    if (this.ended !== undefined) return;
    this.ended = why;
    const runs = [this.current, ...this.queue.splice(0)];
    this.current = undefined;
    const code = this.left ?? (await this.exitCode());
    const { id, language } = this.row;
    const { message } = fail('context_ended', { id, why, language });
    const error = { ename: 'ContextEnded', evalue: String(code), traceback: [message] };
    try {
      for (const run of runs) await run?.finish({ exitCode: code, error });
    } finally {
      this.onEnd(why);
      this.resolveEnded();
    }
  }

  private async exitCode(): Promise<number> {
    const exit = await Promise.race([this.kernel.exited, Bun.sleep(SECOND_MS)]);
    return exit?.code ?? KILLED;
  }
}

const WITHDRAWN = { ename: 'Interrupted', evalue: 'it was taken back before it began', traceback: [] };

/** What a kernel says of the end: an error in languages that throw, an exit code in a shell. */
function outcomeOf({ error, code = 0 }: KernelMessage): Outcome {
  if (error) return { exitCode: 1, error };
  if (code === 0) return { exitCode: 0 };
  const why = code === INTERRUPTED ? 'interrupted' : `exit status ${code}`;
  return { exitCode: code, error: { ename: 'CommandExecError', evalue: String(code), traceback: [why] } };
}
