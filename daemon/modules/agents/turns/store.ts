import { and, asc, count, eq, gte, inArray, lt, max, type SQL, sql } from 'drizzle-orm';
import type { Database } from '../../../db/open.ts';
import { placeholders } from '../../../db/placeholders.ts';
import { PreparedUpdates } from '../../../db/prepared-updates.ts';
import { agentMessages, agentToolCalls, type CallRow, type CallState, type MessageRow } from './tables.ts';

/** Characters of a result that a turn shows; the events have all of it. */
const MOST_RESULT = 4_096;
/** Characters of arguments that the calls of a turn show together, and what each of them may show in any case. */
const MOST_SHOWN = 1024 * 1024;
const LEAST_SHOWN = 64;
/** What a call is besides its texts, about, in bytes. */
const CALL_BYTES = 200;

const { id, turnNumber, iteration, name, state, ok, durationMs } = agentToolCalls;
const SHOWN = { id, turnNumber, iteration, name, state, ok, durationMs };

/** A call as a turn shows it: of long texts the beginning. */
export type ShownCall = Pick<CallRow, keyof typeof SHOWN | 'args' | 'output'>;

/** Turns of a session, by their numbers. */
export interface TurnRange {
  readonly from: number;
  /** The first one that is not meant. */
  readonly before: number;
}

/** Reads and writes the conversation of sessions and the calls of their tools. */
export class TurnStore {
  private readonly talk;
  private readonly ofAnswer;
  private readonly last;
  private readonly shown;
  private readonly addMessage;
  private readonly addCall;
  private readonly changes;

  constructor(private readonly db: Database) {
    const inSession = eq(agentMessages.sessionId, sql.placeholder('sessionId'));
    const messages = db.sql.select().from(agentMessages).where(inSession);
    this.talk = messages.orderBy(asc(agentMessages.seq)).prepare();
    this.last = db.sql
      .select({ seq: max(agentMessages.seq) })
      .from(agentMessages)
      .where(inSession)
      .prepare();
    this.addMessage = db.sql.insert(agentMessages).values(placeholders(agentMessages)).prepare();
    this.addCall = db.sql.insert(agentToolCalls).values(placeholders(agentToolCalls)).prepare();
    this.changes = new PreparedUpdates(db, agentToolCalls, (states) =>
      and(
        eq(agentToolCalls.tenant, sql.placeholder('whereTenant')),
        eq(agentToolCalls.id, sql.placeholder('whereId')),
        inArray(agentToolCalls.state, states as CallState[]),
      ),
    );
    const { turnNumber, iteration, position, args, output } = agentToolCalls;
    const share = sql`max(${LEAST_SHOWN}, ${MOST_SHOWN} / count(*) OVER (PARTITION BY ${turnNumber}))`;
    this.shown = db.sql
      .select({
        ...SHOWN,
        args: sql<string>`substr(${args}, 1, ${share})`,
        output: sql<string | null>`substr(${output}, 1, min(${MOST_RESULT}, ${share}))`,
      })
      .from(agentToolCalls)
      .where(
        and(
          eq(agentToolCalls.tenant, sql.placeholder('tenant')),
          eq(agentToolCalls.sessionId, sql.placeholder('sessionId')),
          gte(turnNumber, sql.placeholder('from')),
          lt(turnNumber, sql.placeholder('before')),
        ),
      )
      .orderBy(asc(turnNumber), asc(iteration), asc(position))
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
      this.addMessage.run({ sessionId, seq: ++seq, turnNumber, message, tokens, isSummary: false });
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
    for (const row of rows) this.addCall.run(row);
  }

  /** The calls of a turn as it shows them, in their order. */
  shownCalls(tenant: string, sessionId: string, turnNumber: number): ShownCall[] {
    return this.callsBetween(tenant, sessionId, { from: turnNumber, before: turnNumber + 1 });
  }

  /** The calls of some turns as those show them, in their order: of texts that are long, or of many calls, the beginning. */
  callsBetween(tenant: string, sessionId: string, { from, before }: TurnRange): ShownCall[] {
    return this.shown.all({ tenant, sessionId, from, before });
  }

  /** About how many bytes the calls of each turn are when they are shown. */
  callSizes(tenant: string, sessionId: string): ReadonlyMap<number, number> {
    const { turnNumber, args, output } = agentToolCalls;
    const each = sql`octet_length(${args}) + min(${MOST_RESULT}, coalesce(octet_length(${output}), 0))`;
    const rows = this.db.sql
      .select({ number: turnNumber, total: count(), bytes: sql<number>`sum(${each})` })
      .from(agentToolCalls)
      .where(ofSession(tenant, sessionId))
      .groupBy(turnNumber)
      .all();
    return new Map(
      rows.map(({ number, total, bytes }) => [number, Math.min(bytes, 2 * MOST_SHOWN) + total * CALL_BYTES]),
    );
  }

  /** The calls of one answer of the model, in their order. */
  callsOf(tenant: string, sessionId: string, turnNumber: number, iteration: number): CallRow[] {
    return this.ofAnswer.all({ tenant, sessionId, turnNumber, iteration });
  }

  /** Changes a call when it stands as it is thought to. Answers whether it did. */
  changeCall(
    { tenant, id }: Pick<CallRow, 'tenant' | 'id'>,
    from: readonly CallState[],
    change: Partial<CallRow>,
  ): boolean {
    return this.changes.run(change, { tenant, id }, from);
  }

  private lastSeq(sessionId: string): number {
    return this.last.get({ sessionId })?.seq ?? 0;
  }
}

function ofSession(tenant: string, sessionId: string): SQL | undefined {
  return and(eq(agentToolCalls.tenant, tenant), eq(agentToolCalls.sessionId, sessionId));
}
