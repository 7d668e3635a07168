import type { Role } from '../../../src/api/endpoint.ts';
import { fail } from '../../../src/errors/app-error.ts';
import { newSecret } from '../../../src/kit/id.ts';
import { MINUTE_MS } from '../../../src/kit/time.ts';
import type { App } from '../../app.ts';
import type { Caller } from '../../http/route.ts';
import type { Visit } from './accounts.ts';
import { normalizeEmail, readEmail } from './inputs.ts';
import type { Letters } from './letters.ts';
import { requireSelfHosted } from './mode.ts';
import { Penalties } from './penalties.ts';
import { hashSecret } from './secret-hash.ts';
import type { SessionStore } from './session-store.ts';
import type { Sessions, SignedIn } from './sessions.ts';
import type { LoginLinkRow } from './tables.ts';
import type { UserStore } from './user-store.ts';

const MAGIC_MS = 15 * MINUTE_MS;
const LAUNCH_MS = 30 * MINUTE_MS;

/** An address that opens the dashboard once. */
export interface LaunchUrl {
  readonly url: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Links that sign somebody in once: the magic link that is mailed, the launch URL that `svc up` opens. */
export class LoginLinks {
  private readonly byPeer: Penalties;
  private readonly byAddress: Penalties;

  constructor(
    private readonly app: App,
    private readonly users: UserStore,
    private readonly store: SessionStore,
    private readonly sessions: Sessions,
    private readonly letters: Letters,
  ) {
    this.byPeer = new Penalties(app.clock, { free: 20, longestMs: 15 * MINUTE_MS });
    this.byAddress = new Penalties(app.clock, { free: 3, longestMs: 15 * MINUTE_MS });
  }

  /**
   * Sends a magic link to a person. For an address that nobody has, the same is done but the sending, so
   * that neither the answer nor its time tells who has an account. Errors: rate_limited, invalid_argument.
   */
  requestMagicLink(address: string | undefined, { peer }: Visit, baseUrl: string): string {
    requireSelfHosted(this.app.config);
    const email = normalizeEmail(readEmail(address));
    this.byPeer.charge(peer);
    this.byAddress.charge(email);
    const user = this.users.byEmail(email);
    const token = this.add('magic', user ? MAGIC_MS : 0, { userId: user?.id });
    const link = `${baseUrl}/auth/verify-magic-link?token=${token}`;
    const lines = ['Open this link to sign in. It works once, within 15 minutes:'];
    if (user)
      setTimeout(() => void this.letters.send({ to: email, subject: 'Sign-in link', lines, link }), 0);
    return this.letters.areMailed
      ? 'If somebody has this address, a link is on its way.'
      : 'If somebody has this address, a link is in the log of the instance, which has no mail server.';
  }

  /** Signs in by a magic link, which is used up. Errors: bad_link. */
  verifyMagicLink(token: string, visit: Visit): SignedIn {
    requireSelfHosted(this.app.config);
    return this.app.db.transaction(() => {
      const userId = this.take('magic', token).userId;
      const [home] = userId ? this.users.belongings(userId) : [];
      if (!userId || !home) throw fail('bad_link');
      const tenant = home.organization.id;
      return this.sessions.open({ tenant, userId, by: 'magic_link', earlier: visit.earlier });
    });
  }

  /**
   * Makes an address that signs its first visitor in as the caller. The instance's own key, and the
   * instance itself, stand for its owner, or for the operator while there is none.
   */
  createLaunchUrl(caller: Pick<Caller, 'tenant' | 'role' | 'userId' | 'actor'>, baseUrl: string): LaunchUrl {
    const { tenant, role, actor } = caller;
    const owner = role === 'owner' ? this.users.organization(tenant)?.ownerId : undefined;
    const userId = caller.userId ?? owner ?? undefined;
    return this.app.db.transaction(() => {
      const token = this.add('launch', LAUNCH_MS, { tenant, userId, role });
      this.app.audit.record({ tenant, actor, action: 'launch_url.create', target: userId ?? 'operator' });
      return {
        url: `${baseUrl}/auth/launch?token=${token}`,
        expiresAt: this.app.clock.now() + LAUNCH_MS,
      };
    });
  }

  /** Signs in by a launch URL, which is used up. Errors: bad_link. */
  launch(token: string, visit: Visit): SignedIn {
    return this.app.db.transaction(() => {
      const { tenant, userId, role } = this.take('launch', token);
      if (tenant === null) throw fail('bad_link');
      const who = userId === null ? { role: role ?? undefined } : { userId };
      return this.sessions.open({ tenant, ...who, by: 'launch', earlier: visit.earlier });
    });
  }

  private add(
    kind: LoginLinkRow['kind'],
    goodForMs: number,
    { tenant, userId, role }: { tenant?: string; userId?: string; role?: Role },
  ): string {
    const token = newSecret();
    const createdAt = this.app.clock.now();
    this.store.insertLink({
      tokenHash: hashSecret(token),
      kind,
      tenant: tenant ?? null,
      userId: userId ?? null,
      role: role ?? null,
      createdAt,
      expiresAt: createdAt + goodForMs,
    });
    return token;
  }

  private take(kind: LoginLinkRow['kind'], token: string): LoginLinkRow {
    const link = this.store.takeLink(kind, hashSecret(token), this.app.clock.now());
    if (!link) throw fail('bad_link');
    return link;
  }
}
