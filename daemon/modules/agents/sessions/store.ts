import {
  type AnyColumn,
  and,
  asc,
  count,
  desc,
  eq,
  getTableColumns,
  gte,
  inArray,
  lt,
  notInArray,
  type SQL,
  sql,
} from 'drizzle-orm';
import type { Database } from '../../../db/open.ts';
import { placeholders } from '../../../db/placeholders.ts';
import { PreparedUpdates } from '../../../db/prepared-updates.ts';
import type { TurnRange } from '../turns/store.ts';
import {
  agentSessions,
  agentSteers,
  agentTurns,
  type SessionRow,
  type SessionState,
  type SteerRow,
  type TurnRow,
  type TurnState,
} from './tables.ts';

/** Which sessions are meant. */
export interface SessionFilter {
  readonly agentId?: string;
  readonly status?: SessionState;
  readonly limit: number;
  readonly offset: number;
}

/** A session as a list shows it. */
export type ListedSession = Omit<SessionRow, 'agent'>;

const { agent: _snapshot, ...listed } = getTableColumns(agentSessions);

const WHERE_TENANT = sql.placeholder('whereTenant');
const WHERE_ID = sql.placeholder('whereId');
const TENANT = sql.placeholder('tenant');
const ID = sql.placeholder('id');
const UNDER_WAY: TurnState[] = ['running', 'waiting'];

/** Reads and writes sessions, their turns and what is said between steps. */
export class SessionStore {
  private readonly one;
  private readonly oneTurn;
  private readonly underWay;
  private readonly inLine;
  private readonly said;
  private readonly addTurn;
  private readonly changes;
  private readonly take;
  private readonly turnChanges;

  constructor(private readonly db: Database) {
    const mine = and(eq(agentSessions.tenant, TENANT), eq(agentSessions.id, ID));
    const ofSession = and(eq(agentTurns.tenant, TENANT), eq(agentTurns.sessionId, ID));
    const isUnderWay = inArray(agentTurns.status, UNDER_WAY);
    this.one = db.sql.select().from(agentSessions).where(mine).prepare();
    this.oneTurn = this.turnsWhere(and(ofSession, eq(agentTurns.number, sql.placeholder('number'))));
    this.underWay = this.turnsWhere(and(ofSession, isUnderWay));
    this.inLine = this.turnsWhere(and(ofSession, eq(agentTurns.status, 'queued')));
    this.addTurn = db.sql.insert(agentTurns).values(placeholders(agentTurns)).prepare();
    const meant = and(eq(agentSessions.tenant, WHERE_TENANT), eq(agentSessions.id, WHERE_ID));
    this.changes = new PreparedUpdates(db, agentSessions, () => meant);
    const more = (column: AnyColumn, name: string) => sql`${column} + ${sql.placeholder(name)}`;
    this.take = db.sql
      .update(agentSessions)
      .set({
        steps: more(agentSessions.steps, 'steps'),
        promptTokens: more(agentSessions.promptTokens, 'promptTokens'),
        completionTokens: more(agentSessions.completionTokens, 'completionTokens'),
        costMicros: more(agentSessions.costMicros, 'costMicros'),
      })
      .where(meant)
      .prepare();
    this.turnChanges = new PreparedUpdates(db, agentTurns, (states) =>
      and(
        eq(agentTurns.tenant, WHERE_TENANT),
        eq(agentTurns.id, WHERE_ID),
        inArray(agentTurns.status, states as TurnState[]),
      ),
    );
    const saidTo = eq(agentSteers.sessionId, ID);
    this.said = db.sql.select({ total: count() }).from(agentSteers).where(saidTo).prepare();
  }

  insert(row: SessionRow): void {
    this.db.sql.insert(agentSessions).values(row).run();
  }

  find(tenant: string, id: string): SessionRow | undefined {
    return this.one.get({ tenant, id });
  }

  /** A page, newest first, and how many there are of that kind. */
  list(
    tenant: string,
    { agentId, status, limit, offset }: SessionFilter,
  ): { rows: ListedSession[]; total: number } {
    const where = and(
      eq(agentSessions.tenant, tenant),
      agentId === undefined ? undefined : eq(agentSessions.agentId, agentId),
      status === undefined ? undefined : eq(agentSessions.status, status),
    );
    const rows = this.db.sql
      .select(listed)
      .from(agentSessions)
      .where(where)
      .orderBy(desc(agentSessions.createdAt), desc(agentSessions.id))
      .limit(limit)
      .offset(offset)
      .all();
    return { rows, total: this.countWhere(where) };
  }

  /** Sessions of a tenant that are not over. */
  countOpen(tenant: string): number {
    return this.countWhere(
      and(eq(agentSessions.tenant, tenant), notInArray(agentSessions.status, ['completed', 'cancelled'])),
    );
  }

  change(tenant: string, id: string, change: Partial<SessionRow>): void {
    this.changes.run(change, { tenant, id });
  }

  /** Adds to what a session has taken. */
  spend(
    tenant: string,
    id: string,
    taken: { steps: number; promptTokens: number; completionTokens: number; costMicros: number },
  ): void {
    this.take.run({ ...taken, whereTenant: tenant, whereId: id });
  }

  /** Removes some of the sessions that nobody has touched since a time and that nothing goes on in. Answers how many. */
  prune(before: number, most: number): number {
    const open = this.db.sql
      .select({ id: agentTurns.sessionId })
      .from(agentTurns)
      .where(inArray(agentTurns.status, ['queued', ...UNDER_WAY]));
    const old = this.db.sql
      .select({ id: agentSessions.id })
      .from(agentSessions)
      .where(and(lt(agentSessions.updatedAt, before), notInArray(agentSessions.id, open)))
      .limit(most)
      .all();
    const ids = old.map(({ id }) => id);
    if (ids.length > 0) this.db.sql.delete(agentSessions).where(inArray(agentSessions.id, ids)).run();
    return ids.length;
  }

  insertTurn(row: TurnRow): void {
    this.addTurn.run(row);
  }

  turn(tenant: string, sessionId: string, number: number): TurnRow | undefined {
    return this.oneTurn.get({ tenant, id: sessionId, number });
  }

  /** Some turns of a session, in their order. */
  turnsBetween(tenant: string, sessionId: string, { from, before }: TurnRange): TurnRow[] {
    return this.db.sql
      .select()
      .from(agentTurns)
      .where(and(ofSession(tenant, sessionId), gte(agentTurns.number, from), lt(agentTurns.number, before)))
      .orderBy(asc(agentTurns.number))
      .all();
  }

  /** How many bytes the texts of the turns before a number are, latest first. */
  turnSizes(tenant: string, sessionId: string, before: number): Array<{ number: number; bytes: number }> {
    const { number, userInput, output } = agentTurns;
    return this.db.sql
      .select({ number, bytes: sql<number>`octet_length(${userInput}) + octet_length(${output})` })
      .from(agentTurns)
      .where(and(ofSession(tenant, sessionId), lt(number, before)))
      .orderBy(desc(number))
      .all();
  }

  /** The turn that a request has begun, by its Idempotency-Key. */
  turnOfRequest(tenant: string, sessionId: string, requestKey: string): TurnRow | undefined {
    return this.db.sql
      .select()
      .from(agentTurns)
      .where(and(ofSession(tenant, sessionId), eq(agentTurns.requestKey, requestKey)))
      .get();
  }

  /** The turn that is under way. */
  current(tenant: string, sessionId: string): TurnRow | undefined {
    return this.underWay.get({ tenant, id: sessionId });
  }

  /** The turns that wait for others to end, in their order. */
  queued(tenant: string, sessionId: string): TurnRow[] {
    return this.inLine.all({ tenant, id: sessionId });
  }

  /** Turns of every tenant that are not over. For the start of the daemon. */
  openTurns(): TurnRow[] {
    return this.db.sql
      .select()
      .from(agentTurns)
      .where(inArray(agentTurns.status, ['queued', ...UNDER_WAY]))
      .orderBy(asc(agentTurns.createdAt))
      .all();
  }

  /** Changes a turn when it stands as it is thought to. Answers whether it did. */
  changeTurn(
    { tenant, id }: Pick<TurnRow, 'tenant' | 'id'>,
    from: readonly TurnState[],
    change: Partial<TurnRow>,
  ): boolean {
    return this.turnChanges.run(change, { tenant, id }, from);
  }

  addSteer(sessionId: string, role: SteerRow['role'], content: string): void {
    this.db.sql.insert(agentSteers).values({ sessionId, role, content }).run();
  }

  countSteers(sessionId: string): number {
    return this.said.get({ id: sessionId })?.total ?? 0;
  }

  /** Takes what was said since the last step, in its order. */
  takeSteers(sessionId: string): SteerRow[] {
    const rows = this.db.sql
      .delete(agentSteers)
      .where(eq(agentSteers.sessionId, sessionId))
      .returning()
      .all();
    return rows.toSorted((a, b) => a.id - b.id);
  }

  private turnsWhere(where: SQL | undefined) {
    return this.db.sql.select().from(agentTurns).where(where).orderBy(asc(agentTurns.number)).prepare();
  }

  private countWhere(where: SQL | undefined): number {
    return this.db.sql.select({ total: count() }).from(agentSessions).where(where).get()?.total ?? 0;
  }
}

function ofSession(tenant: string, sessionId: string): SQL | undefined {
  return and(eq(agentTurns.tenant, tenant), eq(agentTurns.sessionId, sessionId));
}
