import { fail } from '../../../src/errors/app-error.ts';
import { MINUTE_MS } from '../../../src/kit/time.ts';
import type { App } from '../../app.ts';
import { normalizeEmail, readEmail, readName, readPassword } from './inputs.ts';
import { requireSelfHosted } from './mode.ts';
import type { Passwords } from './passwords.ts';
import { Penalties } from './penalties.ts';
import type { People } from './people.ts';
import type { Sessions, SignedIn } from './sessions.ts';
import type { SetupToken } from './setup-token.ts';
import type { UserStore } from './user-store.ts';

/** How a sign-in reaches the instance. */
export interface Visit {
  /** The peer's address. */
  readonly peer: string;
  /** The session token that the browser has already. */
  readonly earlier?: string;
}

/** A registration. */
export interface Registration {
  readonly email?: string;
  readonly password?: string;
  readonly name?: string;
  /** The sender is a process of this user on this machine, or has the owner's rights already. */
  readonly isTrusted: boolean;
  readonly setupToken: string | null;
}

/** Accounts with a password (self-hosted). */
export class Accounts {
  private readonly byPeer: Penalties;
  private readonly byAccount: Penalties;
  private isClaimed = false;

  constructor(
    private readonly app: App,
    private readonly tenant: string,
    private readonly store: UserStore,
    private readonly people: People,
    private readonly sessions: Sessions,
    private readonly passwords: Passwords,
    private readonly setup: SetupToken,
  ) {
    this.byPeer = new Penalties(app.clock, { free: 20, longestMs: 15 * MINUTE_MS });
    this.byAccount = new Penalties(app.clock, { free: 5, longestMs: MINUTE_MS });
  }

  /** Whether anybody has registered. Once somebody has, it stays so. */
  hasUsers(): boolean {
    this.isClaimed ||= this.store.count() > 0;
    return this.isClaimed;
  }

  /**
   * Registers the first person, who becomes the owner of the instance.
   * Errors: registration_closed, setup_token_required, rate_limited, invalid_argument, failed_precondition.
   */
  async register(input: Registration, visit: Visit): Promise<SignedIn> {
    requireSelfHosted(this.app.config);
    this.requireUnclaimed();
    this.requireSetup(input, visit);
    const email = readEmail(input.email);
    const name = readName(input.name, email.split('@')[0] ?? email);
    const passwordHash = await this.passwords.hash(readPassword(input.password));
    return this.app.db.transaction(() => {
      this.requireUnclaimed();
      const user = this.people.add({ email, name, passwordHash });
      this.store.setMember(this.tenant, user.id, 'owner', this.app.clock.now());
      this.people.claim(this.tenant, user.id);
      this.app.audit.record({
        tenant: this.tenant,
        actor: user.id,
        action: 'user.register',
        target: user.id,
      });
      return this.open(user.id, this.tenant, 'password', visit.earlier);
    });
  }

  /** Signs in by password. Errors: bad_login, rate_limited, failed_precondition. */
  async login(input: { email?: string; password?: string }, visit: Visit): Promise<SignedIn> {
    requireSelfHosted(this.app.config);
    const email = normalizeEmail(input.email);
    this.byPeer.charge(visit.peer);
    this.byAccount.charge(email);
    const user = this.store.byEmail(email);
    const isRight = await this.passwords.verify(input.password ?? '', user?.passwordHash);
    const [home] = user && isRight ? this.store.belongings(user.id) : [];
    if (!user || !home) throw fail('bad_login');
    this.byPeer.refund(visit.peer);
    this.byAccount.forgive(email);
    return this.open(user.id, home.organization.id, 'password', visit.earlier);
  }

  private open(userId: string, tenant: string, by: string, earlier: string | undefined): SignedIn {
    return this.sessions.open({ tenant, userId, by, earlier });
  }

  private requireUnclaimed(): void {
    if (this.hasUsers()) throw fail('registration_closed');
  }

  private requireSetup({ isTrusted, setupToken }: Registration, { peer }: Visit): void {
    if (isTrusted || this.setup.matches(setupToken)) return;
    this.byPeer.charge(peer);
    this.setup.announce();
    throw fail('setup_token_required');
  }
}
