import { and, asc, eq, inArray, max, type SQL, sql } from 'drizzle-orm';
import type { Database } from '../../../db/open.ts';
import { agentMessages, agentToolCalls, type CallRow, type CallState, type MessageRow } from './tables.ts';

/** Reads and writes the conversation of sessions and the calls of their tools. */
export class TurnStore {
  private readonly talk;
  private readonly ofAnswer;
  private readonly last;

  constructor(private readonly db: Database) {
    const inSession = eq(agentMessages.sessionId, sql.placeholder('sessionId'));
    const messages = db.sql.select().from(agentMessages).where(inSession);
    this.talk = messages.orderBy(asc(agentMessages.seq)).prepare();
    this.last = db.sql
      .select({ seq: max(agentMessages.seq) })
      .from(agentMessages)
      .where(inSession)
      .prepare();
    this.ofAnswer = db.sql
      .select()
      .from(agentToolCalls)
      .where(
        and(
          eq(agentToolCalls.tenant, sql.placeholder('tenant')),
          eq(agentToolCalls.sessionId, sql.placeholder('sessionId')),
          eq(agentToolCalls.turnNumber, sql.placeholder('turnNumber')),
          eq(agentToolCalls.iteration, sql.placeholder('iteration')),
        ),
      )
      .orderBy(asc(agentToolCalls.position))
      .prepare();
  }

  /** Adds messages at the end of a conversation. */
  addMessages(
    sessionId: string,
    turnNumber: number,
    messages: ReadonlyArray<Pick<MessageRow, 'message' | 'tokens'>>,
  ): void {
    let seq = this.lastSeq(sessionId);
    for (const { message, tokens } of messages) {
      const row = { sessionId, seq: ++seq, turnNumber, message, tokens, isSummary: false };
      this.db.sql.insert(agentMessages).values(row).run();
    }
  }

  /** What the model is told of, in its order. */
  conversation(sessionId: string): MessageRow[] {
    return this.talk.all({ sessionId });
  }

  /** Takes messages out of a conversation, and puts a summary in the place of one of them, when there is one. */
  replaceMessages(
    sessionId: string,
    seqs: readonly number[],
    summary?: Pick<MessageRow, 'seq' | 'message' | 'tokens' | 'turnNumber'>,
  ): void {
    const these = and(eq(agentMessages.sessionId, sessionId), inArray(agentMessages.seq, [...seqs]));
    this.db.sql.delete(agentMessages).where(these).run();
    if (!summary) return;
    const row = { sessionId, ...summary, isSummary: true };
    this.db.sql.insert(agentMessages).values(row).run();
  }

  insertCalls(rows: readonly CallRow[]): void {
    for (const row of rows) this.db.sql.insert(agentToolCalls).values(row).run();
  }

  /** The calls of a turn, in their order. */
  calls(tenant: string, sessionId: string, turnNumber: number): CallRow[] {
    return this.db.sql
      .select()
      .from(agentToolCalls)
      .where(ofTurn(tenant, sessionId, turnNumber))
      .orderBy(asc(agentToolCalls.iteration), asc(agentToolCalls.position))
      .all();
  }

  /** The calls of a session, in their order. */
  callsOfSession(tenant: string, sessionId: string): CallRow[] {
    return this.db.sql
      .select()
      .from(agentToolCalls)
      .where(and(eq(agentToolCalls.tenant, tenant), eq(agentToolCalls.sessionId, sessionId)))
      .orderBy(asc(agentToolCalls.turnNumber), asc(agentToolCalls.iteration), asc(agentToolCalls.position))
      .all();
  }

  /** The calls of one answer of the model, in their order. */
  callsOf(tenant: string, sessionId: string, turnNumber: number, iteration: number): CallRow[] {
    return this.ofAnswer.all({ tenant, sessionId, turnNumber, iteration });
  }

  call(tenant: string, id: string): CallRow | undefined {
    return this.db.sql
      .select()
      .from(agentToolCalls)
      .where(and(eq(agentToolCalls.tenant, tenant), eq(agentToolCalls.id, id)))
      .get();
  }

  /** Changes a call when it stands as it is thought to. Answers whether it did. */
  changeCall(
    { tenant, id }: Pick<CallRow, 'tenant' | 'id'>,
    from: readonly CallState[],
    change: Partial<CallRow>,
  ): boolean {
    const changed = this.db.sql
      .update(agentToolCalls)
      .set(change)
      .where(
        and(
          eq(agentToolCalls.tenant, tenant),
          eq(agentToolCalls.id, id),
          inArray(agentToolCalls.state, [...from]),
        ),
      )
      .returning({ id: agentToolCalls.id })
      .all();
    return changed.length > 0;
  }

  private lastSeq(sessionId: string): number {
    return this.last.get({ sessionId })?.seq ?? 0;
  }
}

function ofTurn(tenant: string, sessionId: string, turnNumber: number): SQL | undefined {
  return and(
    eq(agentToolCalls.tenant, tenant),
    eq(agentToolCalls.sessionId, sessionId),
    eq(agentToolCalls.turnNumber, turnNumber),
  );
}
