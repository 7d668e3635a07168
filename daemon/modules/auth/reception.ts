import type { UserWithOrganizations } from '../../../src/api/auth/users.ts';
import type { Static } from '../../../src/api/schema.ts';
import type { Clock } from '../../../src/kit/time.ts';
import { isLocalNetwork } from '../../http/gate/addresses.ts';
import type { Site } from '../../http/gate/site.ts';
import type { Call } from '../../http/route.ts';
import type { Visit } from './accounts.ts';
import type { SessionCookie } from './cookie.ts';
import type { SignedIn } from './sessions.ts';
import type { UserStore } from './user-store.ts';
import { toNobody, toUserWithOrganizations } from './user-wire.ts';

/** Longest text of an address. */
const MAX_ADDRESS = 45;

/** The answer of every sign-in. */
export interface Welcome {
  readonly success: true;
  readonly user: Static<typeof UserWithOrganizations>;
  readonly sessionToken: string;
}

/** Who somebody is, as a session or the gate says it. */
export type Identity = Pick<SignedIn, 'userId' | 'tenant' | 'role'>;

/** What the handlers of sign-ins share: who stands at the door, and how somebody is let in. */
export class Reception {
  constructor(
    private readonly clock: Clock,
    private readonly site: Site,
    private readonly cookie: SessionCookie,
    private readonly users: UserStore,
  ) {}

  visit({ peer, request }: Call): Visit {
    return { peer: clientOf(peer, request.headers), earlier: this.cookie.read(request) };
  }

  /** The address of this instance as the caller sees it, for links. */
  baseUrl({ request }: Call): string {
    return this.site.baseUrl(request);
  }

  /** Sets the cookie and answers who is signed in now. */
  welcome(call: Call, signedIn: SignedIn): Welcome {
    this.give(call, signedIn);
    return { success: true, user: this.describe(signedIn), sessionToken: signedIn.token };
  }

  /** As `welcome`, but a browser that followed a link is sent on to the dashboard. */
  enter(call: Call, signedIn: SignedIn): Welcome | Response {
    const welcome = this.welcome(call, signedIn);
    const isBrowser =
      call.request.method === 'GET' && call.request.headers.get('accept')?.includes('text/html');
    return isBrowser ? new Response(null, { status: 303, headers: { location: '/' } }) : welcome;
  }

  /** Hands over the session's token in the cookie. */
  give({ headers, request }: Call, { token, expiresAt }: SignedIn): void {
    this.cookie.set(headers, request, token, expiresAt - this.clock.now());
    headers.set('cache-control', 'no-store');
    headers.set('referrer-policy', 'no-referrer');
  }

  /** Who a session or a key is, with the organizations. */
  describe({ userId, tenant, role = 'owner' }: Identity): Static<typeof UserWithOrganizations> {
    const user = userId === undefined ? undefined : this.users.byId(userId);
    if (user) return toUserWithOrganizations(this.users, user, tenant);
    return toNobody(this.users.organization(tenant), role);
  }
}

/**
 * Whom penalties for guessing fall on: the peer; behind a proxy of this network the address that the proxy
 * has added, so that one guesser does not lock everybody out who comes through it. It proves nothing else.
 */
function clientOf(peer: string, headers: Headers): string {
  const forwarded = headers.get('x-forwarded-for')?.split(',').at(-1)?.trim().slice(0, MAX_ADDRESS);
  return forwarded && isLocalNetwork(peer.replace('::ffff:', '')) ? `${peer} for ${forwarded}` : peer;
}
