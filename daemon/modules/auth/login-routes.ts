import { exchange as exchangeApi } from '../../../src/api/auth/exchange.ts';
import { launch as launchApi } from '../../../src/api/auth/launch.ts';
import { login as loginApi } from '../../../src/api/auth/login.ts';
import { invalid } from '../../../src/errors/app-error.ts';
import { rfc3339 } from '../../../src/kit/time.ts';
import { originOf, type Site } from '../../http/gate/site.ts';
import { type Call, type Caller, implement, type Route } from '../../http/route.ts';
import type { Accounts } from './accounts.ts';
import type { SessionCookie } from './cookie.ts';
import type { Exchange } from './exchange.ts';
import { readRequired } from './inputs.ts';
import type { LoginLinks } from './login-links.ts';
import { ATTEMPT_MS, type OidcSignIn } from './oidc-sign-in.ts';
import type { Reception } from './reception.ts';
import { atLeast } from './roles.ts';
import { SETUP_TOKEN_HEADER } from './setup-token.ts';

/** What the ways to sign in need. */
export interface LoginTools {
  readonly mode: () => 'self_hosted' | 'cloud';
  readonly site: Site;
  readonly cookie: SessionCookie;
  readonly reception: Reception;
  readonly accounts: Accounts;
  readonly links: LoginLinks;
  readonly oidc: OidcSignIn;
  readonly exchange: Exchange;
}

/** The ways to sign in. */
export function loginRoutes(tools: LoginTools): Route[] {
  const { accounts, links, oidc, exchange, reception, cookie } = tools;
  return [
    ...implement(loginApi, {
      GetAuthMode: () => ({
        mode: tools.mode() === 'cloud' ? ('AUTH_MODE_CLOUD' as const) : ('AUTH_MODE_SELF_HOSTED' as const),
        hasUsers: accounts.hasUsers(),
      }),
      async Register(call) {
        const setupToken = call.request.headers.get(SETUP_TOKEN_HEADER);
        const input = { ...call.body, setupToken, isTrusted: isTrusted(call.caller) };
        return reception.welcome(call, await accounts.register(input, reception.visit(call)));
      },
      Login: async (call) => reception.welcome(call, await accounts.login(call.body, reception.visit(call))),
      RequestMagicLink(call) {
        const visit = reception.visit(call);
        const message = links.requestMagicLink(call.body.email, visit, reception.baseUrl(call));
        return { success: true, message };
      },
      VerifyMagicLink(call) {
        const token = readRequired('token', call.body.token ?? call.query.token);
        return reception.enter(call, links.verifyMagicLink(token, reception.visit(call)));
      },
      async GetAuthURL(call) {
        const redirectUri = readRedirect(call, tools.site, call.body.redirectUri);
        const { authUrl, secret } = await oidc.begin(call.body, redirectUri, reception.visit(call));
        cookie.setAttempt(call.headers, call.request, secret, ATTEMPT_MS);
        return { authUrl };
      },
      async Authenticate(call) {
        const secret = cookie.readAttempt(call.request);
        return reception.welcome(call, await oidc.finish(call.body, secret, reception.visit(call)));
      },
    }),
    ...implement(exchangeApi, {
      async ExchangeToken(call) {
        const token = readRequired('token', call.query.token);
        return reception.enter(call, await exchange.signIn(token, reception.visit(call)));
      },
    }),
    ...implement(launchApi, {
      CreateLaunchUrl(call) {
        const { url, expiresAt } = links.createLaunchUrl(call.caller, reception.baseUrl(call));
        return { url, expiresAt: rfc3339(expiresAt) };
      },
      OpenLaunchUrl(call) {
        const token = readRequired('token', call.query.token);
        return reception.enter(call, links.launch(token, reception.visit(call)));
      },
    }),
  ];
}

/** Whether a caller may register the first person without the setup token. */
function isTrusted({ local, via, role }: Caller): boolean {
  return local === true || (via !== 'public' && atLeast(role, 'owner'));
}

/** Where a provider sends the browser back to: a page of this instance. Errors: invalid_argument. */
function readRedirect({ request }: Call, site: Site, given: string | undefined): string {
  if (!given) return `${site.baseUrl(request)}/auth/callback`;
  if (!site.isOwnOrigin(request, originOf(given)))
    throw invalid({ field: 'redirectUri', description: 'must be an address of this instance' });
  return given;
}
