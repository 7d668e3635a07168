import { session as sessionApi } from '../../../src/api/auth/session.ts';
import { fail } from '../../../src/errors/app-error.ts';
import { rfc3339 } from '../../../src/kit/time.ts';
import { implement, type Route } from '../../http/route.ts';
import type { SessionCookie } from './cookie.ts';
import type { OidcSignIn } from './oidc-sign-in.ts';
import type { Reception } from './reception.ts';
import type { Sessions } from './sessions.ts';

/** What the operations on a session need. */
export interface SessionTools {
  readonly cookie: SessionCookie;
  readonly reception: Reception;
  readonly sessions: Sessions;
  readonly oidc: OidcSignIn;
}

/** The session that a cookie stands for. */
export function sessionRoutes({ cookie, reception, sessions, oidc }: SessionTools): Route[] {
  return implement(sessionApi, {
    GetSession({ caller, headers }) {
      headers.set('cache-control', 'no-store');
      if (caller.via === 'public') return { authenticated: false };
      return { authenticated: true, user: reception.describe(caller) };
    },
    async RefreshSession(call) {
      const token = call.caller.via === 'cookie' ? cookie.read(call.request) : undefined;
      const session = token === undefined ? undefined : sessions.find(token)?.session;
      if (!session) throw fail('unauthenticated', { message: 'There is no session to prolong.' });
      const renewed = session.provider ? await oidc.refresh(session) : sessions.rotate(session);
      if (renewed) reception.give(call, renewed);
      const now = renewed ? sessions.find(renewed.token)?.session : session;
      return { success: true, expiresAt: rfc3339(now?.accessExpiresAt ?? now?.expiresAt ?? undefined) };
    },
    SignOut({ request, caller, headers }) {
      const token = cookie.read(request);
      const session = token === undefined ? undefined : sessions.find(token)?.session;
      // The gate has not let a live session count: the request is not from a page of this instance.
      if (session && caller.via === 'public') throw fail('cross_origin');
      if (session) sessions.end(session);
      cookie.clear(headers, request);
      return { success: true };
    },
  });
}
