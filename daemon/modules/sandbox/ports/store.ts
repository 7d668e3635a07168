import { and, asc, eq, notExists, sql } from 'drizzle-orm';
import type { Database } from '../../../db/open.ts';
import { type Sandbox, sandboxes } from '../tables.ts';
import { type SandboxPort, sandboxPorts } from './tables.ts';

/** A row before it is written. */
export type NewSandboxPort = Omit<SandboxPort, 'id'>;

/** Reads and writes the ports that have an address. */
export class PortStore {
  private readonly openPort;

  constructor(private readonly db: Database) {
    this.openPort = db.sql
      .select({ row: sandboxPorts, sandbox: sandboxes })
      .from(sandboxPorts)
      .innerJoin(
        sandboxes,
        and(eq(sandboxes.id, sandboxPorts.sandboxId), eq(sandboxes.tenant, sandboxPorts.tenant)),
      )
      .where(eq(sandboxPorts.tokenHash, sql.placeholder('tokenHash')))
      .prepare();
  }

  /** Writes a port, unless the sandbox has it already. Answers the row that is there then. */
  ensure(row: NewSandboxPort): SandboxPort {
    const change = row.exposed
      ? { exposed: true, wakeCommand: row.wakeCommand }
      : { protocol: sql`protocol` };
    return this.db.sql
      .insert(sandboxPorts)
      .values(row)
      .onConflictDoUpdate({ target: [sandboxPorts.sandboxId, sandboxPorts.port], set: change })
      .returning()
      .get();
  }

  /** The exposed ports of a sandbox, by number. */
  exposed(tenant: string, sandboxId: string): SandboxPort[] {
    return this.db.sql
      .select()
      .from(sandboxPorts)
      .where(and(ofSandbox(tenant, sandboxId), eq(sandboxPorts.exposed, true)))
      .orderBy(asc(sandboxPorts.port))
      .all();
  }

  /** How many addresses a sandbox has. */
  count(tenant: string, sandboxId: string): number {
    return this.db.sql.$count(sandboxPorts, ofSandbox(tenant, sandboxId)) as unknown as number;
  }

  find(tenant: string, sandboxId: string, port: number): SandboxPort | undefined {
    return this.db.sql
      .select()
      .from(sandboxPorts)
      .where(and(ofSandbox(tenant, sandboxId), eq(sandboxPorts.port, port)))
      .get();
  }

  /** The port behind an address, with its sandbox. Whoever has the token speaks for no tenant: the row says which one. */
  byToken(tokenHash: string): { row: SandboxPort; sandbox: Sandbox } | undefined {
    return this.openPort.get({ tokenHash });
  }

  /** Forgets the address of a port. Answers the row that it had. */
  remove(tenant: string, sandboxId: string, port: number): SandboxPort | undefined {
    return this.db.sql
      .delete(sandboxPorts)
      .where(and(ofSandbox(tenant, sandboxId), eq(sandboxPorts.port, port)))
      .returning()
      .get();
  }

  /** Forgets every address of a sandbox. */
  removeAll(tenant: string, sandboxId: string): void {
    this.db.sql.delete(sandboxPorts).where(ofSandbox(tenant, sandboxId)).run();
  }

  /** Forgets the addresses of sandboxes that are gone. */
  sweep(): void {
    const living = this.db.sql
      .select({ id: sandboxes.id })
      .from(sandboxes)
      .where(and(eq(sandboxes.id, sandboxPorts.sandboxId), sql`${sandboxes.state} <> 'terminated'`));
    this.db.sql.delete(sandboxPorts).where(notExists(living)).run();
  }
}

function ofSandbox(tenant: string, sandboxId: string) {
  return and(eq(sandboxPorts.tenant, tenant), eq(sandboxPorts.sandboxId, sandboxId));
}
