import {
  and,
  asc,
  count,
  eq,
  getTableColumns,
  isNotNull,
  isNull,
  notInArray,
  type SQL,
  sql,
  sum,
} from 'drizzle-orm';
import type { Database } from '../../../db/open.ts';
import { agentSessions, agentTurns, type SessionRow } from '../sessions/tables.ts';
import { agentSpawns, type SpawnRow } from './tables.ts';

/** A node with what its session has come to. */
export interface KnownNode {
  readonly node: SpawnRow;
  readonly session: Pick<
    SessionRow,
    'agentId' | 'status' | 'promptTokens' | 'completionTokens' | 'completedAt'
  >;
  /** The output of its turn, or why it failed. */
  readonly result: string | null;
  readonly error: string | null;
}

/** Characters of a task, and of a result in a list; a node by itself has all of its result. */
const MOST_LISTED = 16 * 1024;

const KNOWN = {
  node: {
    ...getTableColumns(agentSpawns),
    task: sql<string>`substr(${agentSpawns.task}, 1, ${MOST_LISTED})`,
  },
  session: {
    agentId: agentSessions.agentId,
    status: agentSessions.status,
    promptTokens: agentSessions.promptTokens,
    completionTokens: agentSessions.completionTokens,
    completedAt: agentSessions.completedAt,
  },
  error: agentTurns.error,
};

/** Reads and writes the trees of agents. */
export class SpawnStore {
  constructor(private readonly db: Database) {}

  insert(row: SpawnRow): void {
    this.db.sql.insert(agentSpawns).values(row).run();
  }

  ofSession(tenant: string, sessionId: string): SpawnRow | undefined {
    return this.one(and(eq(agentSpawns.tenant, tenant), eq(agentSpawns.sessionId, sessionId)));
  }

  ofCall(tenant: string, callId: string): SpawnRow | undefined {
    return this.one(and(eq(agentSpawns.tenant, tenant), eq(agentSpawns.callId, callId)));
  }

  /** The session that people began, with which a tree began. */
  root(tenant: string, treeId: string): SpawnRow | undefined {
    return this.one(
      and(eq(agentSpawns.tenant, tenant), eq(agentSpawns.treeId, treeId), isNull(agentSpawns.parentId)),
    );
  }

  /** A node with its session. */
  known(tenant: string, id: string): KnownNode | undefined {
    const where = and(eq(agentSpawns.tenant, tenant), eq(agentSpawns.id, id));
    return this.nodes(where, 1, 0, sql`${agentTurns.output}`)[0];
  }

  /** The nodes of a tree, from its root on, and how many there are. */
  tree(tenant: string, treeId: string): { nodes: KnownNode[]; total: number } {
    const where = and(eq(agentSpawns.tenant, tenant), eq(agentSpawns.treeId, treeId));
    return { nodes: this.nodes(where, -1, 0), total: this.count(where) };
  }

  /** A page of the nodes that a node has started, and how many there are. */
  below(
    tenant: string,
    nodeId: string,
    limit: number,
    offset: number,
  ): { nodes: KnownNode[]; total: number } {
    const where = and(eq(agentSpawns.tenant, tenant), eq(agentSpawns.parentId, nodeId));
    return { nodes: this.nodes(where, limit, offset), total: this.count(where) };
  }

  /** Sub-agents of a tree, and the tokens of all its sessions. */
  taken(tenant: string, treeId: string): { nodes: number; tokens: number } {
    const where = and(eq(agentSpawns.tenant, tenant), eq(agentSpawns.treeId, treeId));
    const row = this.db.sql
      .select({
        nodes: count(agentSpawns.parentId),
        prompt: sum(agentSessions.promptTokens),
        completion: sum(agentSessions.completionTokens),
      })
      .from(agentSpawns)
      .innerJoin(agentSessions, eq(agentSessions.id, agentSpawns.sessionId))
      .where(where)
      .get();
    return { nodes: row?.nodes ?? 0, tokens: Number(row?.prompt ?? 0) + Number(row?.completion ?? 0) };
  }

  /** Sub-agents whose sessions are not over, of every tenant. For the start of the daemon. */
  unfinished(): SpawnRow[] {
    return this.db.sql
      .select({ node: agentSpawns })
      .from(agentSpawns)
      .innerJoin(agentSessions, eq(agentSessions.id, agentSpawns.sessionId))
      .where(
        and(isNotNull(agentSpawns.parentId), notInArray(agentSessions.status, ['completed', 'cancelled'])),
      )
      .all()
      .map(({ node }) => node);
  }

  private one(where: SQL | undefined): SpawnRow | undefined {
    return this.db.sql.select().from(agentSpawns).where(where).get();
  }

  /** A sub-agent has one turn; a root shows its first. */
  private nodes(
    where: SQL | undefined,
    limit: number,
    offset: number,
    result: SQL = sql`substr(${agentTurns.output}, 1, ${MOST_LISTED})`,
  ): KnownNode[] {
    return this.db.sql
      .select({ ...KNOWN, result: result as SQL<string | null> })
      .from(agentSpawns)
      .innerJoin(agentSessions, eq(agentSessions.id, agentSpawns.sessionId))
      .leftJoin(agentTurns, and(eq(agentTurns.sessionId, agentSpawns.sessionId), eq(agentTurns.number, 1)))
      .where(where)
      .orderBy(asc(agentSpawns.createdAt), asc(agentSpawns.id))
      .limit(limit)
      .offset(offset)
      .all();
  }

  private count(where: SQL | undefined): number {
    return this.db.sql.select({ total: count() }).from(agentSpawns).where(where).get()?.total ?? 0;
  }
}
