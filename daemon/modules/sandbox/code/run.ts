import type { RecordedCode } from '../command/service.ts';
import type { OutputChunk } from '../drivers/driver.ts';
import type { KernelError } from './marks.ts';
import { Outbox } from './outbox.ts';

/** What happens in a run. */
export type RunEvent =
  | { readonly type: 'queued' }
  | { readonly type: 'started'; readonly count: number }
  | { readonly type: 'output'; readonly chunk: OutputChunk }
  | { readonly type: 'result'; readonly data: Readonly<Record<string, unknown>> }
  | { readonly type: 'finished'; readonly durationMs: number; readonly error?: KernelError };

/** How a run ended. */
export interface Outcome {
  readonly exitCode: number;
  readonly error?: KernelError;
}

/** One piece of code in a context, from its arrival to its end. */
export class Run {
  readonly events = new Outbox<RunEvent>();
  readonly done: Promise<void>;
  private readonly resolveDone: () => void;
  private isFinished = false;

  constructor(
    readonly code: string,
    readonly recorded: RecordedCode,
  ) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.done = promise;
    this.resolveDone = resolve;
  }

  get id(): string {
    return this.recorded.row.id;
  }

  /** Keeps what was printed and hands it on; resolves when the reader keeps up. */
  async output(chunk: OutputChunk): Promise<void> {
    this.recorded.head.add(chunk.channel, chunk.bytes);
    await this.recorded.log.write(chunk.bytes);
    await this.events.push({ type: 'output', chunk });
  }

  /** Writes the end down, then tells it. */
  async finish({ exitCode, error }: Outcome): Promise<void> {
    if (this.isFinished) return;
    this.isFinished = true;
    const { durationMs } = this.recorded.finish(exitCode, error && `${error.ename}: ${error.evalue}`);
    void this.events.push({ type: 'finished', durationMs, error });
    this.events.end();
    this.resolveDone();
    await this.recorded.log.close();
  }
}
