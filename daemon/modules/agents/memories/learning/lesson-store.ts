import { and, eq, lt } from 'drizzle-orm';
import type { Database } from '../../../../db/open.ts';
import { type LessonRow, memoryLessons } from '../tables.ts';

/** Names a turn. */
export type LessonKey = Pick<LessonRow, 'sessionId' | 'turnNumber'>;

/** Reads and writes what is to be learned. */
export class LessonStore {
  constructor(private readonly db: Database) {}

  /** Notes a turn to learn from; false when it was noted before. Part of the caller's transaction. */
  add(tenant: string, lesson: Omit<LessonRow, 'tenant'>): boolean {
    const added = this.db.sql
      .insert(memoryLessons)
      .values({ ...lesson, tenant })
      .onConflictDoNothing()
      .returning({ state: memoryLessons.state })
      .all();
    return added.length > 0;
  }

  /** A turn that is still to be learned from. */
  waiting(tenant: string, key: LessonKey): LessonRow | undefined {
    const where = and(this.of(tenant, key), eq(memoryLessons.state, 'waiting'));
    return this.db.sql.select().from(memoryLessons).where(where).get();
  }

  /** Ends a lesson that waits, and lets go of what was said; false when it has ended before. */
  end(tenant: string, key: LessonKey, state: 'learned' | 'failed'): boolean {
    const ended = this.db.sql
      .update(memoryLessons)
      .set({ state, input: '' })
      .where(and(this.of(tenant, key), eq(memoryLessons.state, 'waiting')))
      .returning({ state: memoryLessons.state })
      .all();
    return ended.length > 0;
  }

  /** Forgets old lessons, of every tenant. */
  prune(before: number): void {
    this.db.sql.delete(memoryLessons).where(lt(memoryLessons.createdAt, before)).run();
  }

  private of(tenant: string, { sessionId, turnNumber }: LessonKey) {
    return and(
      eq(memoryLessons.tenant, tenant),
      eq(memoryLessons.sessionId, sessionId),
      eq(memoryLessons.turnNumber, turnNumber),
    );
  }
}
