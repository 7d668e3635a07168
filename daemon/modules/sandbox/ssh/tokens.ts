import { fail } from '../../../../src/errors/app-error.ts';
import { newId, newSecret } from '../../../../src/kit/id.ts';
import { MINUTE_MS } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import type { Caller } from '../../../http/route.ts';
import type { LifecycleService } from '../lifecycle/service.ts';
import type { Connections } from './connections.ts';
import { atLeast, type People, userOf } from './people.ts';
import type { SshStore } from './store.ts';
import { canWake, requireSsh } from './switch.ts';
import type { SshTokenRow } from './tables.ts';

/** Minutes of a token that asks for none (spec, SSH). */
export const DEFAULT_MINUTES = 60;

/** Tokens of one sandbox that are good at once. */
const MOST_TOKENS = 100;

const PREFIX = 'st_';
const FORM = /^st_[A-Za-z0-9_-]{43}$/;

/** A token with its secret, which is never seen again. */
export interface MadeToken {
  readonly row: SshTokenRow;
  readonly secret: string;
}

/** Temporary credentials: 256 random bits, each good for one sandbox and for a time. */
export class SshTokens {
  constructor(
    private readonly app: App,
    private readonly lifecycle: LifecycleService,
    private readonly store: SshStore,
    private readonly people: People,
    private readonly connections: Connections,
  ) {}

  /**
   * Makes a token for a sandbox that runs, or is woken by whoever comes. Errors: sandbox_not_found, sandbox_wrong_state, failed_precondition (SSH is off),
   * resource_exhausted.
   */
  create(caller: Caller, sandbox: string, minutes: number): MadeToken {
    const box = this.lifecycle.get(caller.tenant, sandbox);
    requireSsh(box);
    if (!canWake(box)) this.lifecycle.running(caller.tenant, box.id);
    const now = this.app.clock.now();
    const secret = PREFIX + newSecret();
    const { tenant, actor } = caller;
    const row: SshTokenRow = {
      id: newId('ssht', now),
      tenant,
      sandboxId: box.id,
      tokenHash: hashToken(secret),
      minutes,
      createdBy: userOf(caller),
      createdAt: now,
      expiresAt: now + minutes * MINUTE_MS,
    };
    this.app.db.transaction(() => {
      if (this.store.liveTokens(tenant, box.id, now).length >= MOST_TOKENS)
        throw fail('resource_exhausted', {
          message: `The sandbox has ${MOST_TOKENS} SSH tokens. Revoke some.`,
        });
      this.store.insertToken(row);
      const details = { sandbox: box.id, minutes };
      this.app.audit.record({ tenant, actor, action: 'ssh_token.create', target: row.id, details });
    });
    return { row, secret };
  }

  /** The tokens that are still good. Errors: sandbox_not_found. */
  list(tenant: string, sandbox: string): SshTokenRow[] {
    const box = this.lifecycle.get(tenant, sandbox);
    return this.store.liveTokens(tenant, box.id, this.app.clock.now());
  }

  /** Ends a token and the connections that came in with it. Errors: sandbox_not_found, not_found. */
  revoke({ tenant, actor }: Caller, sandbox: string, id: string): void {
    const box = this.lifecycle.get(tenant, sandbox);
    this.app.db.transaction(() => {
      if (!this.store.deleteToken(tenant, box.id, id)) throw fail('not_found', { what: 'SSH token', id });
      const details = { sandbox: box.id };
      this.app.audit.record({ tenant, actor, action: 'ssh_token.revoke', target: id, details });
    });
    this.connections.closeWhere(
      ({ credential }) => credential.kind === 'token' && credential.id === id,
      'revoked',
    );
  }

  /** The token that a text is; undefined when no token that is good now is that. */
  find(text: string): SshTokenRow | undefined {
    if (!isToken(text)) return undefined;
    const row = this.store.tokenByHash(hashToken(text));
    return row && row.expiresAt > this.app.clock.now() && this.isVouchedFor(row) ? row : undefined;
  }

  /** Whether whoever made a token may still do so. */
  isVouchedFor({ tenant, createdBy }: Pick<SshTokenRow, 'tenant' | 'createdBy'>): boolean {
    return atLeast(this.people.roleOf(tenant, createdBy), 'member');
  }

  /** Forgets tokens that are over. */
  sweep(): void {
    this.store.sweepTokens(this.app.clock.now());
  }
}

/** Whether a text has the form of a token. */
export function isToken(text: string): boolean {
  return FORM.test(text);
}

/** How a token is kept: SHA-256 in hex. A secret of 256 random bits needs no slow hash. */
function hashToken(secret: string): string {
  return new Bun.CryptoHasher('sha256').update(secret).digest('hex');
}
