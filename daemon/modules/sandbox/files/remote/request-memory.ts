import { CALL_HEADER } from '../../drivers/programs/call-program.ts';
import { BLOCK } from './batch.ts';

/** What a request has beside its contents: paths and records. */
const BESIDE = 16 * 1024;
const MOST_SPARE = 16;
const spare: RequestMemory[] = [];

/**
 * Memory that a request is made in, used again and again: contents would leave the collector as much to do as to carry.
 * Contents that are put together in it lie where the request wants them, and are not moved.
 */
export class RequestMemory {
  readonly whole: Uint8Array = new Uint8Array(CALL_HEADER + BLOCK + BESIDE);
  /** The place for contents that a batch has before anything else. */
  readonly contents: Uint8Array = this.whole.subarray(CALL_HEADER, CALL_HEADER + BLOCK);

  private holders = 0;

  private constructor() {}

  /** Memory that nobody else has. */
  static take(): RequestMemory {
    return (spare.pop() ?? new RequestMemory()).hold();
  }

  /** One more has it, as a pipe that is still to take it in: the other side may answer before it has read all. */
  hold(): this {
    this.holders++;
    return this;
  }

  /** One of those who have it needs it no more; after the last it is for others. */
  giveBack(): void {
    if (--this.holders === 0 && spare.length < MOST_SPARE) spare.push(this);
  }
}
