import { HOUR_MS, SECOND_MS } from '../../../src/kit/time.ts';
import type { App, Module } from '../../app.ts';
import { Site } from '../../http/gate/site.ts';
import type { Authenticator } from '../../http/gate.ts';
import type { Caller } from '../../http/route.ts';
import { createMailer, type Mailer } from '../../mail/mailer.ts';
import { Accounts } from './accounts.ts';
import { ApiKeys } from './api-keys.ts';
import { SessionCookie } from './cookie.ts';
import { Exchange } from './exchange.ts';
import { ensureInstance } from './instance.ts';
import { InvitationStore } from './invitation-store.ts';
import { keyRoutes } from './key-routes.ts';
import { KeySnapshot } from './key-snapshot.ts';
import { KeyStore } from './key-store.ts';
import { Letters } from './letters.ts';
import { type LaunchUrl, LoginLinks } from './login-links.ts';
import { loginRoutes } from './login-routes.ts';
import { OidcSignIn } from './oidc-sign-in.ts';
import { Passwords } from './passwords.ts';
import { People } from './people.ts';
import { Reception } from './reception.ts';
import { sessionRoutes } from './session-routes.ts';
import { SessionStore } from './session-store.ts';
import { Sessions } from './sessions.ts';
import { SetupToken } from './setup-token.ts';
import { LOCAL_ACTOR, Standing } from './standing.ts';
import { Team } from './team.ts';
import { teamRoutes } from './team-routes.ts';
import { UserStore } from './user-store.ts';

export { exchangeKey } from './exchange.ts';
export type { LaunchUrl } from './login-links.ts';

const FLUSH_MS = 30 * SECOND_MS;

/** What the rest of the daemon may ask of this module. */
export interface AuthFace {
  /** For the gate. */
  readonly authenticator: Authenticator;
  /** The tenant that the instance itself belongs to. */
  readonly instanceTenant: string;
  /** An address that opens the dashboard once, as the owner of the instance. */
  createLaunchUrl(): LaunchUrl;
  /** What actors may do now. */
  readonly standing: Standing;
}

/** What the module takes from its surroundings, besides the app. */
export interface AuthOptions {
  /** The port that is listened on; `server.port` when absent. */
  readonly port?: () => number;
  readonly mailer?: Mailer;
}

/** Makes the module of sign-in, teams and API keys, and at the first start the instance's organization and root key. */
export function createAuthModule(app: App, options: AuthOptions = {}): Module & AuthFace {
  const { config, clock, log, db } = app;
  const site = new Site(config, options.port);
  const users = new UserStore(db);
  const keyStore = new KeyStore(db);
  const sessionStore = new SessionStore(db);
  const invitations = new InvitationStore(db);
  const instanceTenant = ensureInstance(app, users, keyStore).id;

  const snapshot = new KeySnapshot(db, keyStore, clock);
  const people = new People(app, users);
  const sessions = new Sessions(app, sessionStore);
  const passwords = new Passwords();
  const letters = new Letters(options.mailer ?? createMailer(config), log);
  const setup = new SetupToken(log);
  const keys = new ApiKeys(app, keyStore, users, snapshot);
  const accounts = new Accounts(app, instanceTenant, users, people, sessions, passwords, setup);
  const links = new LoginLinks(app, users, sessionStore, sessions, letters);
  const shared = { users, people, sessionStore, sessions, snapshot };
  const team = new Team(app, { ...shared, invitations, passwords, keys, letters });
  const oidc = new OidcSignIn(app, { ...shared, team });
  const exchange = new Exchange(app, instanceTenant, shared);

  const cookie = new SessionCookie(config, site);
  const reception = new Reception(clock, site, cookie, users);
  const mode = () => config.get('auth.mode') as 'self_hosted' | 'cloud';
  const local = (): Caller | undefined => {
    const isUnclaimed = mode() === 'self_hosted' && !accounts.hasUsers();
    if (!isUnclaimed && !config.get('auth.local_trust')) return undefined;
    const userId = users.organization(instanceTenant)?.ownerId ?? undefined;
    const person = userId === undefined ? {} : { userId };
    return {
      tenant: instanceTenant,
      role: 'owner',
      actor: userId ?? LOCAL_ACTOR,
      ...person,
      via: 'same-origin',
    };
  };
  let flushing: Timer | undefined;

  return {
    name: 'auth',
    routes: [
      ...loginRoutes({ mode, site, cookie, reception, accounts, links, oidc, exchange }),
      ...sessionRoutes({ cookie, reception, sessions, oidc }),
      ...teamRoutes(team, reception),
      ...keyRoutes(keys, snapshot),
    ],
    instanceTenant,
    authenticator: {
      byApiKey: (key) => snapshot.callerOf(key),
      bySession: (token) => sessions.callerOf(token),
      local,
    },
    standing: new Standing(users, keyStore, local),
    createLaunchUrl: () =>
      links.createLaunchUrl({ tenant: instanceTenant, role: 'owner', actor: 'system' }, site.baseUrl()),
    async start() {
      app.jobs.every('auth.sweep', HOUR_MS, () => {
        sessionStore.sweep(clock.now());
        invitations.sweep(clock.now());
      });
      flushing = setInterval(() => snapshot.flush(), FLUSH_MS);
      flushing.unref();
      if (mode() === 'self_hosted' && !accounts.hasUsers() && !site.isLocalOnly) setup.announce();
    },
    async stop() {
      clearInterval(flushing);
      snapshot.flush();
    },
  };
}
