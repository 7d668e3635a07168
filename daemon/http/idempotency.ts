import { createHash } from 'node:crypto';
import { fail } from '../../src/errors/app-error.ts';
import { type Clock, DAY_MS } from '../../src/kit/time.ts';
import type { Database } from '../db/open.ts';
import type { Secrets } from '../secrets/secrets.ts';
import type { Caller } from './route.ts';

const KEPT_MS = DAY_MS;

interface Stored {
  readonly operation: string;
  readonly fingerprint: string;
  readonly response: string;
}

interface Running {
  readonly fingerprint: string;
  readonly answer: Promise<unknown>;
}

/**
 * One effect for requests of one caller that bear the same Idempotency-Key (draft-ietf-httpapi-idempotency-key).
 * While the first one runs the others wait for its answer; later ones get the stored answer for a day.
 * A failed request stores nothing, so that it can be tried again. Answers may hold a secret that is shown
 * once, such as a new API key: they are kept sealed, and nobody else of the tenant gets them.
 */
export class Idempotency {
  private readonly running = new Map<string, Running>();
  private readonly select;
  private readonly insert;

  constructor(
    private readonly db: Database,
    private readonly clock: Clock,
    private readonly secrets: Secrets,
  ) {
    this.select = db.raw.query<Stored, [string, string, number]>(
      'SELECT operation, fingerprint, response FROM idempotency WHERE tenant = ? AND key = ? AND created_at > ?',
    );
    this.insert = db.raw.query(
      'INSERT OR REPLACE INTO idempotency (tenant, key, operation, fingerprint, status, response, created_at) VALUES (?, ?, ?, ?, 200, ?, ?)',
    );
  }

  /** The answer for this key: of the request that runs, of the one that ran, or of `work`. Errors: idempotency_mismatch. */
  async once(
    { tenant, actor }: Pick<Caller, 'tenant' | 'actor'>,
    key: string,
    operation: string,
    input: unknown,
    work: () => Promise<unknown>,
  ): Promise<unknown> {
    const fingerprint = createHash('sha256').update(operation).update(JSON.stringify(input)).digest('hex');
    const own = `${actor} ${key}`;
    const slot = `${tenant}\n${own}`;
    const running = this.running.get(slot);
    if (running) return this.same(running, fingerprint).answer;
    const stored = this.select.get(tenant, own, this.clock.now() - KEPT_MS);
    if (stored) return JSON.parse(this.secrets.open(tenant, own, this.same(stored, fingerprint).response));
    const answer = work().then((value) => {
      const sealed = this.secrets.seal(tenant, own, JSON.stringify(value));
      this.insert.run(tenant, own, operation, fingerprint, sealed, this.clock.now());
      return value;
    });
    this.running.set(slot, { fingerprint, answer });
    return answer.finally(() => this.running.delete(slot));
  }

  /** Forgets answers that are older than a day. */
  prune(): void {
    this.db.raw.query('DELETE FROM idempotency WHERE created_at <= ?').run(this.clock.now() - KEPT_MS);
  }

  private same<T extends { readonly fingerprint: string }>(earlier: T, fingerprint: string): T {
    if (earlier.fingerprint !== fingerprint) throw fail('idempotency_mismatch');
    return earlier;
  }
}
