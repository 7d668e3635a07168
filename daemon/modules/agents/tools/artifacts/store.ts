import { and, asc, desc, eq, gt, inArray, lt, sql } from 'drizzle-orm';
import type { Database } from '../../../../db/open.ts';
import { type ArtifactRow, agentArtifactParts, agentArtifacts } from './tables.ts';

/** Bytes of a part. */
export const PART_BYTES = 256 * 1024;
/** Most rows that one pruning takes, so that it never blocks for long. */
const PRUNE_BATCH = 20;

/** Reads and writes artifacts. */
export class ArtifactStore {
  constructor(private readonly db: Database) {}

  insert(row: ArtifactRow): void {
    this.db.sql.insert(agentArtifacts).values(row).run();
  }

  addPart(artifactId: string, start: number, bytes: Uint8Array): void {
    this.db.sql
      .insert(agentArtifactParts)
      .values({ artifactId, start, bytes: Buffer.from(bytes) })
      .run();
  }

  complete(tenant: string, id: string, size: number): void {
    this.db.sql.update(agentArtifacts).set({ complete: true, size }).where(mine(tenant, id)).run();
  }

  /** One that is whole. */
  find(tenant: string, sessionId: string, id: string): ArtifactRow | undefined {
    const where = and(
      mine(tenant, id),
      eq(agentArtifacts.sessionId, sessionId),
      eq(agentArtifacts.complete, true),
    );
    return this.db.sql.select().from(agentArtifacts).where(where).get();
  }

  /** What a call has kept, whole or not. */
  ofCall(tenant: string, sessionId: string, callId: string): ArtifactRow | undefined {
    const where = and(ofSession(tenant, sessionId), eq(agentArtifacts.callId, callId));
    return this.db.sql.select().from(agentArtifacts).where(where).get();
  }

  /** Those of a session that are whole, newest first. */
  list(tenant: string, sessionId: string): ArtifactRow[] {
    return this.db.sql
      .select()
      .from(agentArtifacts)
      .where(and(ofSession(tenant, sessionId), eq(agentArtifacts.complete, true)))
      .orderBy(desc(agentArtifacts.createdAt), desc(agentArtifacts.id))
      .all();
  }

  /** All of a session, also those whose bytes are coming, oldest first. */
  all(tenant: string, sessionId: string): ArtifactRow[] {
    return this.db.sql
      .select()
      .from(agentArtifacts)
      .where(ofSession(tenant, sessionId))
      .orderBy(asc(agentArtifacts.createdAt), asc(agentArtifacts.id))
      .all();
  }

  /** The part that a byte is in, and where it begins; undefined behind the end. */
  part(artifactId: string, offset: number): { start: number; bytes: Uint8Array } | undefined {
    const { artifactId: of, start } = agentArtifactParts;
    const row = this.db.sql
      .select()
      .from(agentArtifactParts)
      .where(and(eq(of, artifactId), lt(start, offset + 1), gt(start, offset - PART_BYTES)))
      .orderBy(desc(start))
      .limit(1)
      .get();
    return row && offset < row.start + row.bytes.length ? { start: row.start, bytes: row.bytes } : undefined;
  }

  remove(tenant: string, id: string): void {
    this.db.sql.delete(agentArtifacts).where(mine(tenant, id)).run();
  }

  /** Forgets those that a former process has not completed. For the start of the daemon. */
  removeIncomplete(): void {
    this.db.sql.delete(agentArtifacts).where(eq(agentArtifacts.complete, false)).run();
  }

  /** Forgets what was kept before a time, of every tenant, a batch at a time. Answers whether there may be more. */
  prune(before: number): boolean {
    const old = this.db.sql
      .select({ id: agentArtifacts.id })
      .from(agentArtifacts)
      .where(lt(agentArtifacts.createdAt, before))
      .limit(PRUNE_BATCH);
    const gone = this.db.sql
      .delete(agentArtifacts)
      .where(inArray(agentArtifacts.id, old))
      .returning({ one: sql`1` })
      .all();
    return gone.length === PRUNE_BATCH;
  }
}

const mine = (tenant: string, id: string) =>
  and(eq(agentArtifacts.tenant, tenant), eq(agentArtifacts.id, id));

const ofSession = (tenant: string, sessionId: string) =>
  and(eq(agentArtifacts.tenant, tenant), eq(agentArtifacts.sessionId, sessionId));
