import { and, asc, count, desc, eq, lte, or } from 'drizzle-orm';
import type { Database } from '../../../db/open.ts';
import type { AgentMode } from './agent.ts';
import { type AgentRow, agentRows, agentVersions, type VersionRow } from './tables.ts';

/** Which agents are meant. */
export interface AgentFilter {
  readonly enabled?: boolean;
  readonly mode?: AgentMode;
  readonly includeHidden: boolean;
  readonly limit: number;
  readonly offset: number;
}

/** Reads and writes agents and what they were. */
export class AgentStore {
  constructor(private readonly db: Database) {}

  find(tenant: string, id: string): AgentRow | undefined {
    return this.db.sql.select().from(agentRows).where(mine(tenant, id)).get();
  }

  /** By its name, or by its mention alias in any case. No two agents of a tenant have a word in common. */
  findByWord(tenant: string, word: string): AgentRow | undefined {
    const named = or(eq(agentRows.name, word), eq(agentRows.mentionAlias, word));
    return this.db.sql
      .select()
      .from(agentRows)
      .where(and(eq(agentRows.tenant, tenant), named))
      .get();
  }

  /** The other agents that a word names, be it their name or their alias, in any case. */
  isTaken(tenant: string, word: string, exceptId: string): boolean {
    const query = this.db.raw.query<{ id: string }, [string, string, string]>(
      'SELECT id FROM agents WHERE tenant = ?1 AND id <> ?2 AND (name = ?3 OR mention_alias = ?3)',
    );
    return query.get(tenant, exceptId, word) !== null;
  }

  /** A page in the order of their names, and how many there are of that kind. */
  list(tenant: string, filter: AgentFilter): { rows: AgentRow[]; total: number } {
    const { enabled, mode, includeHidden, limit, offset } = filter;
    const where = and(
      eq(agentRows.tenant, tenant),
      enabled === undefined ? undefined : eq(agentRows.enabled, enabled),
      mode === undefined ? undefined : eq(agentRows.mode, mode),
      includeHidden ? undefined : eq(agentRows.hidden, false),
    );
    const rows = this.db.sql
      .select()
      .from(agentRows)
      .where(where)
      .orderBy(asc(agentRows.name))
      .limit(limit)
      .offset(offset)
      .all();
    const total = this.db.sql.select({ total: count() }).from(agentRows).where(where).get()?.total ?? 0;
    return { rows, total };
  }

  count(tenant: string): number {
    const where = eq(agentRows.tenant, tenant);
    return this.db.sql.select({ total: count() }).from(agentRows).where(where).get()?.total ?? 0;
  }

  insert(row: AgentRow): void {
    this.db.sql.insert(agentRows).values(row).run();
  }

  change(tenant: string, id: string, change: Partial<AgentRow>): void {
    this.db.sql.update(agentRows).set(change).where(mine(tenant, id)).run();
  }

  /** Removes an agent with what it was. */
  remove(tenant: string, id: string): void {
    this.db.sql.delete(agentRows).where(mine(tenant, id)).run();
  }

  /** Notes what an agent has become, and forgets what is older than the last `kept`. */
  addVersion(row: VersionRow, kept: number): void {
    this.db.sql.insert(agentVersions).values(row).run();
    this.db.sql
      .delete(agentVersions)
      .where(and(versionsOf(row.tenant, row.agentId), lte(agentVersions.version, row.version - kept)))
      .run();
  }

  /** The changes of an agent, newest first, without what it became. */
  versions(tenant: string, agentId: string): Array<Omit<VersionRow, 'definition'>> {
    const { agentId: id, tenant: owner, version, changes, actor, byAgent, createdAt } = agentVersions;
    return this.db.sql
      .select({ agentId: id, tenant: owner, version, changes, actor, byAgent, createdAt })
      .from(agentVersions)
      .where(versionsOf(tenant, agentId))
      .orderBy(desc(version))
      .all();
  }

  version(tenant: string, agentId: string, version: number): VersionRow | undefined {
    return this.db.sql
      .select()
      .from(agentVersions)
      .where(and(versionsOf(tenant, agentId), eq(agentVersions.version, version)))
      .get();
  }
}

function mine(tenant: string, id: string) {
  return and(eq(agentRows.tenant, tenant), eq(agentRows.id, id));
}

function versionsOf(tenant: string, agentId: string) {
  return and(eq(agentVersions.tenant, tenant), eq(agentVersions.agentId, agentId));
}
