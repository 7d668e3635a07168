import { and, asc, desc, eq, inArray, isNotNull, isNull, lt, lte, sql } from 'drizzle-orm';
import type { Database } from '../db/open.ts';
import { type Job, jobs } from './tables.ts';

/** What one look for due work takes at most. */
const BATCH = 32;

/** Reads and writes the jobs. Jobs of the instance itself have no tenant. */
export class JobStore {
  constructor(private readonly db: Database) {}

  insert(job: Job): void {
    this.db.sql.insert(jobs).values(job).run();
  }

  /** Adds a repeating job once; an existing one keeps its next time but takes the new interval. */
  upsertRepeating(job: Job): void {
    this.db.sql
      .insert(jobs)
      .values(job)
      .onConflictDoUpdate({ target: jobs.id, set: { everyMs: job.everyMs, updatedAt: job.updatedAt } })
      .run();
  }

  /** Takes due work of the known kinds, and work whose holder let its lease run out. */
  lease(kinds: readonly string[], owner: string, now: number, leaseMs: number): Job[] {
    return this.db.transaction(() => {
      const due = this.db.sql
        .select()
        .from(jobs)
        .where(
          and(
            inArray(jobs.kind, [...kinds]),
            sql`(${and(eq(jobs.state, 'waiting'), lte(jobs.runAt, now))} OR ${and(eq(jobs.state, 'running'), lt(jobs.leaseUntil, now))})`,
          ),
        )
        .orderBy(asc(jobs.runAt))
        .limit(BATCH)
        .all();
      const ids = due.map((job) => job.id);
      if (ids.length > 0) {
        this.db.sql
          .update(jobs)
          .set({
            state: 'running',
            leaseOwner: owner,
            leaseUntil: now + leaseMs,
            attempts: sql`${jobs.attempts} + 1`,
            updatedAt: now,
          })
          .where(inArray(jobs.id, ids))
          .run();
      }
      return due.map((job) => ({ ...job, attempts: job.attempts + 1 }));
    });
  }

  /** Keeps hold of a job that takes long. */
  extend(id: string, owner: string, until: number): void {
    this.db.sql
      .update(jobs)
      .set({ leaseUntil: until })
      .where(and(eq(jobs.id, id), eq(jobs.leaseOwner, owner)))
      .run();
  }

  update(id: string, change: Partial<Job>): void {
    this.db.sql.update(jobs).set(change).where(eq(jobs.id, id)).run();
  }

  /** Gives back what a former process held. */
  releaseAll(now: number): void {
    this.db.sql
      .update(jobs)
      .set({ state: 'waiting', leaseOwner: null, leaseUntil: null, updatedAt: now })
      .where(eq(jobs.state, 'running'))
      .run();
  }

  /** The time of the next waiting job, if there is one. */
  nextRunAt(kinds: readonly string[]): number | undefined {
    const row = this.db.sql
      .select({ runAt: jobs.runAt })
      .from(jobs)
      .where(and(inArray(jobs.kind, [...kinds]), eq(jobs.state, 'waiting')))
      .orderBy(asc(jobs.runAt))
      .limit(1)
      .get();
    return row?.runAt;
  }

  /** The jobs a tenant may see: its own and the instance's, newest first. */
  list(tenant: string, limit: number, offset: number): Job[] {
    return this.db.sql
      .select()
      .from(jobs)
      .where(sql`(${isNull(jobs.tenant)} OR ${eq(jobs.tenant, tenant)})`)
      .orderBy(desc(jobs.updatedAt))
      .limit(limit)
      .offset(offset)
      .all();
  }

  /** Forgets finished single jobs that are older than `before`. Returns how many. */
  prune(before: number): number {
    const gone = this.db.sql
      .delete(jobs)
      .where(and(inArray(jobs.state, ['done', 'failed']), isNull(jobs.everyMs), lt(jobs.updatedAt, before)))
      .returning({ id: jobs.id })
      .all();
    return gone.length;
  }

  /** The repeating jobs whose kind nobody serves any more. */
  repeatingKinds(): string[] {
    return this.db.sql
      .selectDistinct({ kind: jobs.kind })
      .from(jobs)
      .where(isNotNull(jobs.everyMs))
      .all()
      .map((row) => row.kind);
  }
}
