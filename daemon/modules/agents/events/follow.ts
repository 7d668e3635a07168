import type { StoredEvent } from './event.ts';
import type { EventLog } from './log.ts';

const PAGE = 500;
/** Events that wait for a slow reader in memory; beyond it they are read from the disk again. */
const MOST_WAITING = 1_000;

/** What a reader follows. */
export interface Followed {
  readonly sessionId: string;
  /** The event that was seen last. */
  readonly after: number;
  readonly signal: AbortSignal;
  /** Whether an event is the last that is wanted; `next` has happened together with it. */
  readonly isLast?: (event: StoredEvent, next: StoredEvent | undefined) => boolean;
  /** Whether nothing can happen any more. Asked when every event has been told. */
  readonly isOver?: () => boolean;
}

/**
 * Events of a session in their order, from the rows and then as they happen: none is left out and none comes twice,
 * however slowly somebody reads and wherever they go on from.
 */
export async function* followEvents(
  log: EventLog,
  { sessionId, after, signal, isLast, isOver }: Followed,
): AsyncGenerator<StoredEvent> {
  let news = Promise.withResolvers<void>();
  let waiting: StoredEvent[] = [];
  const unwatch = log.watch(sessionId, (events) => {
    if (waiting.length < MOST_WAITING) waiting.push(...events);
    else waiting = [];
    news.resolve();
  });
  const wake = () => news.resolve();
  signal.addEventListener('abort', wake);
  try {
    for (let seen = after; !signal.aborted; ) {
      const fresh = waiting;
      waiting = [];
      news = Promise.withResolvers();
      const isNext = fresh[0]?.seq === seen + 1;
      const events = isNext ? fresh : log.store.after(sessionId, seen, PAGE);
      for (const [i, event] of events.entries()) {
        if (event.seq <= seen) continue;
        seen = event.seq;
        yield event;
        if (isLast?.(event, events[i + 1])) return;
      }
      if (events.length > 0) continue;
      if (isOver?.()) return;
      await news.promise;
    }
  } finally {
    unwatch();
    signal.removeEventListener('abort', wake);
  }
}
