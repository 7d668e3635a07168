import { and, count, desc, eq, sql } from 'drizzle-orm';
import type { Database } from '../../../db/open.ts';
import type { Filter } from './cron-store.ts';
import { sandboxWebhooks, type WebhookRow } from './tables.ts';

/** Reads and writes webhooks. */
export class WebhookStore {
  constructor(private readonly db: Database) {}

  insert(row: Omit<WebhookRow, 'id'>): WebhookRow {
    return this.db.sql.insert(sandboxWebhooks).values(row).returning().get();
  }

  find(tenant: string, id: number): WebhookRow | undefined {
    return this.db.sql.select().from(sandboxWebhooks).where(mine(tenant, id)).get();
  }

  list(tenant: string, { sandboxId, limit, offset }: Filter): { rows: WebhookRow[]; total: number } {
    const where = and(
      eq(sandboxWebhooks.tenant, tenant),
      sandboxId === undefined ? undefined : eq(sandboxWebhooks.sandboxId, sandboxId),
    );
    const rows = this.db.sql
      .select()
      .from(sandboxWebhooks)
      .where(where)
      .orderBy(desc(sandboxWebhooks.id))
      .limit(limit)
      .offset(offset)
      .all();
    const total = this.db.sql.select({ total: count() }).from(sandboxWebhooks).where(where).get()?.total ?? 0;
    return { rows, total };
  }

  count(tenant: string): number {
    const mine = eq(sandboxWebhooks.tenant, tenant);
    return this.db.sql.select({ total: count() }).from(sandboxWebhooks).where(mine).get()?.total ?? 0;
  }

  update(tenant: string, id: number, change: Partial<WebhookRow>): void {
    this.db.sql.update(sandboxWebhooks).set(change).where(mine(tenant, id)).run();
  }

  delete(tenant: string, id: number): boolean {
    const gone = this.db.sql
      .delete(sandboxWebhooks)
      .where(mine(tenant, id))
      .returning({ id: sandboxWebhooks.id });
    return gone.all().length > 0;
  }

  /** Moves all that worked in a sandbox to the one that took its place. */
  move(tenant: string, from: string, sandboxId: string, sessionId: string): void {
    const there = and(eq(sandboxWebhooks.tenant, tenant), eq(sandboxWebhooks.sandboxId, from));
    this.db.sql.update(sandboxWebhooks).set({ sandboxId, sessionId }).where(there).run();
  }

  /** Counts a call that was taken. */
  taken(tenant: string, id: number, at: number): void {
    const change = { lastTriggeredAt: at, triggerCount: sql`${sandboxWebhooks.triggerCount} + 1` };
    this.db.sql.update(sandboxWebhooks).set(change).where(mine(tenant, id)).run();
  }

  /** Counts a run that failed. */
  failed(tenant: string, id: number, error: string): void {
    const change = { lastError: error, errorCount: sql`${sandboxWebhooks.errorCount} + 1` };
    this.db.sql.update(sandboxWebhooks).set(change).where(mine(tenant, id)).run();
  }

  /** The webhook behind an address, of any tenant. */
  findByPath(path: string): WebhookRow | undefined {
    return this.db.sql.select().from(sandboxWebhooks).where(eq(sandboxWebhooks.path, path)).get();
  }
}

function mine(tenant: string, id: number) {
  return and(eq(sandboxWebhooks.tenant, tenant), eq(sandboxWebhooks.id, id));
}
