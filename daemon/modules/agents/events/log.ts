import type { Clock } from '../../../../src/kit/time.ts';
import type { Database } from '../../../db/open.ts';
import type { NewEvent, StoredEvent } from './event.ts';
import type { EventStore } from './store.ts';

/** How long text may be held back so that the pieces of all sessions are written at once. */
const GATHER_MS = 12;

/** Told of events that are on the disk, in their order. */
type Watcher = (events: readonly StoredEvent[]) => void;

interface Text {
  readonly turnNumber: number;
  delta: string;
}

/**
 * The events of sessions: on the disk first, and then with those who watch. Text of models is gathered for a moment, so
 * that many sessions share one commit.
 */
export class EventLog {
  private readonly watchers = new Map<string, Set<Watcher>>();
  private readonly texts = new Map<string, Text>();
  private readonly committed = new Map<string, StoredEvent[]>();
  private gathering: Timer | undefined;
  private writtenAt = 0;

  constructor(
    private readonly db: Database,
    readonly store: EventStore,
    private readonly clock: Clock,
  ) {}

  /** Runs work that appends events; those who watch are told after its commit, and nothing when it throws. */
  commit<T>(work: () => T): T {
    if (this.db.raw.inTransaction) return work();
    try {
      const result = this.db.transaction(work);
      this.tell();
      return result;
    } finally {
      this.committed.clear();
    }
  }

  /** Adds events of a turn. Only inside `commit`. Text that waits goes before them. */
  append(sessionId: string, turnNumber: number, ...events: readonly NewEvent[]): void {
    this.takeText(sessionId);
    for (const { type, ...fields } of events) this.insert(sessionId, turnNumber, type, fields);
  }

  /** Adds text of a model; it is written within milliseconds. */
  text(sessionId: string, turnNumber: number, delta: string): void {
    const waiting = this.texts.get(sessionId);
    if (waiting) waiting.delta += delta;
    else this.texts.set(sessionId, { turnNumber, delta });
    const quietMs = performance.now() - this.writtenAt;
    this.gathering ??= setTimeout(() => this.flush(), quietMs > GATHER_MS ? 0 : GATHER_MS);
  }

  /** Writes the text that waits. */
  flush(): void {
    clearTimeout(this.gathering);
    this.gathering = undefined;
    this.writtenAt = performance.now();
    if (this.texts.size === 0) return;
    this.commit(() => {
      for (const sessionId of [...this.texts.keys()]) this.takeText(sessionId);
    });
  }

  /** Forgets text that was not written: its session is over. */
  dropText(sessionId: string): void {
    this.texts.delete(sessionId);
  }

  /** Watches a session; returns the function that ends it. */
  watch(sessionId: string, watcher: Watcher): () => void {
    const set = this.watchers.get(sessionId) ?? new Set();
    this.watchers.set(sessionId, set);
    set.add(watcher);
    return () => {
      set.delete(watcher);
      if (set.size === 0) this.watchers.delete(sessionId);
    };
  }

  private takeText(sessionId: string): void {
    const waiting = this.texts.get(sessionId);
    if (!waiting) return;
    this.texts.delete(sessionId);
    this.insert(sessionId, waiting.turnNumber, 'llm.chunk', { textDelta: waiting.delta });
  }

  private insert(sessionId: string, turnNumber: number, type: NewEvent['type'], fields: object): void {
    const seq = this.store.latest(sessionId) + 1;
    const event = { sessionId, seq, turnNumber, type, fields: JSON.stringify(fields) };
    this.store.insert(event, this.clock.now());
    const told = this.committed.get(sessionId);
    if (told) told.push(event);
    else this.committed.set(sessionId, [event]);
  }

  private tell(): void {
    for (const [sessionId, events] of this.committed)
      for (const watcher of this.watchers.get(sessionId) ?? []) watcher(events);
  }
}
