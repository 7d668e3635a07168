import { SECOND_MS } from '../../../../../src/kit/time.ts';
import { release } from '../../../../http/multipart/memory.ts';
import type { Execution } from '../../drivers/driver.ts';
import { AnswerReader } from './answer-reader.ts';
import { Batch, type Reply } from './batch.ts';
import { RequestMemory } from './request-memory.ts';
import { brokenServer } from './server-error.ts';

/** How long one batch may take. A call in a box that does not come back is ended with its process. */
const DEADLINE_MS = 30 * SECOND_MS;
/** What the process may say beside its answers: nothing, but a system that warns is forgiven. */
const MAX_NOISE = 64 * 1024;

const PIPE_SIZE = 1024 * 1024;
const F_SETPIPE_SZ = 1031;
const PR_SET_DUMPABLE = 4;
/** A descriptor that is kept for `realPath`. */
export const SPARE_FD = 3;

/**
 * A process in a box that carries out system calls. Batches are made in the order in which they are asked for.
 * It is one of the box's own and may lie about the box; it cannot make the daemon wait, grow or break.
 */
export class CallServer {
  private readonly reader = new AnswerReader();
  private written: Promise<void> = Promise.resolve();
  private timer: Timer | undefined;
  private why: Error | undefined;
  private nonce = BigInt(crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) << 32n;
  private readonly onEnd: Array<() => void> = [];

  constructor(
    private readonly execution: Execution,
    private readonly deadlineMs: number = DEADLINE_MS,
  ) {
    void this.read();
  }

  /**
   * Prepares the process: modes count as they are given, no other process of its user may look into it, and
   * its pipes take a whole batch. Errors: unavailable when it did not start.
   */
  async hello(): Promise<void> {
    const batch = new Batch();
    batch.call('umask', [0]);
    batch.call('prctl', [PR_SET_DUMPABLE, 0, 0, 0, 0]);
    batch.call('dup3', [0, SPARE_FD, 0]);
    for (const fd of [0, 1]) batch.call('fcntl', [fd, F_SETPIPE_SZ, PIPE_SIZE]);
    await this.run(batch);
  }

  get isEnded(): boolean {
    return this.why !== undefined;
  }

  /** Calls back when the process is gone; at once when it is. */
  whenEnded(listener: () => void): void {
    if (this.why) listener();
    else this.onEnd.push(listener);
  }

  /**
   * Makes the calls of a batch. Errors: unavailable when the process ended, did not answer in time or is not itself.
   * @param ready the caller's memory, in which the contents of the batch lie
   */
  run(batch: Batch, ready?: RequestMemory): Promise<Reply> {
    if (this.why) return Promise.reject(this.why);
    const nonce = ++this.nonce;
    const memory = ready?.hold() ?? (batch.isLarge ? RequestMemory.take() : undefined);
    const bytes = batch.encode(nonce, memory?.whole);
    const answer = this.reader.expect(batch, nonce);
    if (this.reader.waiting === 1) this.arm();
    this.written = this.written.then(() => this.write(bytes, memory)).catch((error) => this.end(error));
    return answer;
  }

  /** Ends the process; what it was asked fails. */
  close(): void {
    this.end(brokenServer('its process was ended'));
  }

  private async write(bytes: Uint8Array, memory: RequestMemory | undefined): Promise<void> {
    await this.execution.write(bytes);
    memory?.giveBack();
  }

  private async read(): Promise<void> {
    let noise = 0;
    try {
      for await (const { channel, bytes } of this.execution.output) {
        if (channel === 'stderr') noise += bytes.length;
        else if (this.reader.feed(bytes) > 0) this.arm();
        release(bytes);
        if (noise > MAX_NOISE) throw brokenServer('its process says what nobody asked');
      }
      const exit = await this.execution.exited;
      throw brokenServer(exit.startError ?? `its process ended with code ${exit.code}`);
    } catch (error) {
      this.end(error);
    }
  }

  /** The deadline counts for the batch whose turn it is. */
  private arm(): void {
    clearTimeout(this.timer);
    if (this.reader.waiting === 0) return;
    this.timer = setTimeout(() => this.end(brokenServer('it did not answer in time')), this.deadlineMs);
  }

  private end(reason: unknown): void {
    if (this.why) return;
    this.why = reason instanceof Error ? reason : brokenServer('its process is gone');
    clearTimeout(this.timer);
    this.reader.fail(this.why);
    void this.execution.kill('SIGKILL').catch(() => undefined);
    for (const listener of this.onEnd.splice(0)) listener();
  }
}
