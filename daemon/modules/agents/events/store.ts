import type { Database } from '../../../db/open.ts';
import type { StoredEvent } from './event.ts';

/** Characters of the events that are read at once. */
const MOST_PAGE = 4 * 1024 * 1024;

type Row = Omit<StoredEvent, 'sessionId'>;

/** Writes and reads the events of sessions, by prepared statements: they are the most frequent rows of agents. */
export class EventStore {
  private readonly add;
  private readonly next;
  private readonly first;
  private readonly page;

  constructor(db: Database) {
    this.add = db.raw.query<null, [string, number, number, string, string, number]>(
      'INSERT INTO agent_events (session_id, seq, turn_number, type, fields, created_at) VALUES (?, ?, ?, ?, ?, ?)',
    );
    this.next = db.raw.query<{ last: number | null }, [string]>(
      'SELECT max(seq) AS last FROM agent_events WHERE session_id = ?',
    );
    this.first = db.raw.query<{ first: number | null }, [string, number]>(
      'SELECT min(seq) AS first FROM agent_events WHERE session_id = ? AND turn_number = ?',
    );
    this.page = db.raw.query<Row, [string, number, number]>(
      `SELECT seq, turn_number AS turnNumber, type, fields FROM agent_events
       WHERE session_id = ? AND seq > ? ORDER BY seq LIMIT ?`,
    );
  }

  insert({ sessionId, seq, turnNumber, type, fields }: StoredEvent, nowMs: number): void {
    this.add.run(sessionId, seq, turnNumber, type, fields, nowMs);
  }

  /** The number of a session's latest event; 0 when it has none. */
  latest(sessionId: string): number {
    return this.next.get(sessionId)?.last ?? 0;
  }

  /** The number of the first event of a turn; one more than the latest when it has none yet. */
  firstOfTurn(sessionId: string, turnNumber: number): number {
    return this.first.get(sessionId, turnNumber)?.first ?? this.latest(sessionId) + 1;
  }

  /**
   * The events after a number, in their order: so many, or fewer when they are large; one at least, when there is any. Whoever asks
   * has made sure that the session is the caller's.
   */
  after(sessionId: string, seq: number, limit: number): StoredEvent[] {
    const events: StoredEvent[] = [];
    let room = MOST_PAGE;
    for (const row of this.page.iterate(sessionId, seq, limit)) {
      room -= row.fields.length;
      if (room < 0 && events.length > 0) break;
      events.push({ sessionId, ...row });
    }
    return events;
  }
}
