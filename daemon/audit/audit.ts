import type { Clock } from '../../src/kit/time.ts';
import type { Database } from '../db/open.ts';

/** Who did what to which thing. Details hold no secrets. */
export interface AuditEntry {
  readonly tenant: string;
  /** User id, key id or `system`. */
  readonly actor: string;
  /** `api_key.create`, `team.invite`, `sandbox.terminate`... */
  readonly action: string;
  readonly target: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** The append-only record of changes. Write it in the transaction of the change itself. */
export class Audit {
  private readonly insert;

  constructor(
    db: Database,
    private readonly clock: Clock,
  ) {
    this.insert = db.raw.query(
      'INSERT INTO audit_log (tenant, actor, action, target, details, created_at) VALUES (?, ?, ?, ?, ?, ?)',
    );
  }

  record({ tenant, actor, action, target, details = {} }: AuditEntry): void {
    this.insert.run(tenant, actor, action, target, JSON.stringify(details), this.clock.now());
  }
}
