import type { ModelCall } from '../pipeline/call.ts';
import type { Settlement } from '../pipeline/settlement.ts';
import type { StreamEnds } from '../wire/event-stream.ts';
import type { RelayEnds } from '../wire/relay.ts';
import type { Usage } from '../wire/usage.ts';
import { broken, cutOff } from './broken-stream.ts';

/** What a surface knows of a stream that goes out. */
export interface StreamReading {
  /** What it took, so far; undefined when nothing says. */
  usage(): Usage | undefined;
  /** Whether its end has passed, after which a caller that closes has left nothing. */
  isComplete(): boolean;
  /** The dialect has no word for the end: a stream that stops is complete. */
  readonly endsBySilence?: boolean;
  /** The event that stands for the rest of a stream that failed, in the caller's dialect. */
  failure(cause: unknown): Uint8Array;
  /** Called once, when it is over. */
  over?(): void;
}

/** Keeps the books of bytes that pass: what they took, and how they ended. */
export function relayEnds({ signal }: ModelCall, settlement: Settlement, reading: StreamReading) {
  const account = () => accountFor(settlement, reading);
  const isWhole = () => reading.endsBySilence === true || reading.isComplete();
  const lastWords = (cause: unknown) => Buffer.concat([Buffer.from('\n\n'), reading.failure(cause)]);
  return {
    last: () => (isWhole() ? undefined : lastWords(cutOff(settlement))),
    ended() {
      account();
      if (isWhole()) settlement.finish('completed');
      else settlement.finish('failed', cutOff(settlement));
    },
    failed(error) {
      account();
      const cause = broken(error, settlement);
      settlement.finish(signal.aborted ? 'stopped' : 'failed', signal.aborted ? undefined : cause);
      return signal.aborted ? undefined : lastWords(cause);
    },
    left() {
      account();
      settlement.finish(reading.isComplete() ? 'completed' : 'stopped');
    },
  } satisfies RelayEnds;
}

/** Keeps the books of events that are written here, whose end is written here too. */
export function writtenEnds(
  { signal }: ModelCall,
  settlement: Settlement,
  reading: Pick<StreamReading, 'usage' | 'failure'>,
): StreamEnds {
  const account = () => accountFor(settlement, reading);
  return {
    ended() {
      account();
      settlement.finish('completed');
    },
    failed(error) {
      account();
      const cause = broken(error, settlement);
      settlement.finish(signal.aborted ? 'stopped' : 'failed', signal.aborted ? undefined : cause);
      return reading.failure(cause);
    },
    left() {
      account();
      settlement.finish('stopped');
    },
  };
}

function accountFor(settlement: Settlement, { usage, over }: Pick<StreamReading, 'usage' | 'over'>): void {
  const taken = usage();
  if (taken) settlement.used(taken);
  over?.();
}
