import type { Role } from '../../../src/api/endpoint.ts';
import type { ChildServer } from '../child-server.ts';
import { type DaemonOptions, startDaemon, type TestDaemon } from '../daemon.ts';
import { type OidcEvent, signInAtProvider, startOidcProvider } from '../oidc-provider.ts';
import { CONTROL_PLANE, exchangeToken } from './control-plane.ts';

const COOKIE = 'es_svc_session';
/** A name of the instance, so that the provider can know where sign-ins lead back to before the port is known. */
const HOST = 'svc.test';
const REDIRECT = `http://${HOST}/auth/callback`;
const CLIENT = { clientId: 'svc', clientSecret: 'a secret of the client, for tests' };
/** Who has an account at the identity provider. */
const STRANGERS = ['sam', 'bea'] as const;

/** Somebody who has signed in. */
export interface Person {
  readonly userId: string;
  /** The organization of the session. */
  readonly tenant: string;
  readonly session: string;
}

/** An API key that was made. */
export interface Key {
  readonly id: string;
  readonly key: string;
}

/** Settings of a daemon whose sandboxes cannot be made: the engine's socket is not there. */
export const NO_SANDBOXES = { SVC_SANDBOX_DRIVER: 'docker', SVC_DOCKER_SOCKET: '/nonexistent/docker.sock' };

/**
 * A daemon with two kinds of tenants: the instance's own, which the control plane sends people into, and
 * the organizations of people who sign in through an identity provider.
 */
export class TwoTenants {
  private constructor(
    readonly daemon: TestDaemon,
    private readonly provider: ChildServer<OidcEvent>,
  ) {}

  static async start(options: DaemonOptions = {}): Promise<TwoTenants> {
    const provider = await startOidcProvider({
      ...CLIENT,
      redirectUris: [REDIRECT],
      accounts: Object.fromEntries(STRANGERS.map((login) => [login, accountOf(login)])),
    });
    const entry = {
      issuer: `http://localhost:${provider.port}`,
      client_id: CLIENT.clientId,
      client_secret: CLIENT.clientSecret,
    };
    const env = {
      ...NO_SANDBOXES,
      SVC_LOG_LEVEL: 'warn',
      SVC_SERVER_HOSTS: HOST,
      SVC_AUTH_MODE: 'cloud',
      SVC_AUTH_OIDC: JSON.stringify({ test: entry }),
      SVC_AUTH_INSTANCE_ID: CONTROL_PLANE.instance,
      SVC_AUTH_EXCHANGE_SECRET: CONTROL_PLANE.secret,
      ...options.env,
    };
    return new TwoTenants(await startDaemon({ ...options, env }), provider);
  }

  /** Signs somebody of the instance's own organization in, with this role from now on. */
  async member(login: string, role: Role): Promise<Person> {
    const token = await exchangeToken(login, role);
    return personOf(await fetch(`${this.daemon.url}/auth/exchange?token=${token}`));
  }

  /** Signs somebody in through the identity provider, who owns an organization of their own. */
  async stranger(login: (typeof STRANGERS)[number]): Promise<Person> {
    const { url } = this.daemon;
    const wanted = { provider: 'test', redirectUri: REDIRECT };
    const begun = await postJson(`${url}/v1/auth/sso-url`, wanted, { host: HOST });
    const { authUrl } = (await begun.json()) as { authUrl: string };
    const attempt = begun.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const { code, state } = Object.fromEntries(await signInAtProvider(authUrl, login));
    return personOf(await postJson(`${url}/v1/auth/authenticate`, { code, state }, { cookie: attempt }));
  }

  /** Signs the holder of a credential in by a launch URL. */
  async launch(headers: Readonly<Record<string, string>>): Promise<Person> {
    const made = await postJson(`${this.daemon.url}/v1/auth/launch`, {}, headers);
    return personOf(await fetch(((await made.json()) as { url: string }).url));
  }

  /** Makes an API key with a credential. */
  async key(headers: Readonly<Record<string, string>>, body: object = {}): Promise<Key> {
    const response = await postJson(`${this.daemon.url}/v1/api-key/create`, body, headers);
    const { apiKey, key } = (await response.json()) as { apiKey: { id: string }; key: string };
    return { id: apiKey.id, key };
  }

  /** Headers of a request from the dashboard, in a browser with this session. */
  fromPage(session: string): Record<string, string> {
    return { origin: this.daemon.url, 'sec-fetch-site': 'same-origin', cookie: cookieOf(session) };
  }

  /** Stops everything; the data directory stays when `keep` is set. */
  async stop(options: { keep?: boolean } = {}): Promise<void> {
    await this.daemon.stop(options);
    await this.provider.stop();
  }
}

/** The Cookie header of a session. */
export function cookieOf(session: string): string {
  return `${COOKIE}=${session}`;
}

/** Posts JSON; throws with the answer when it is not a success. */
export async function postJson(
  url: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return response;
}

function accountOf(login: string) {
  return { email: `${login}@example.com`, email_verified: true, name: login };
}

async function personOf(response: Response): Promise<Person> {
  const body = (await response.json()) as {
    sessionToken: string;
    user: { user: { id: string }; organizations: Array<{ id: string }> };
  };
  const tenant = body.user?.organizations[0]?.id;
  if (!tenant) throw new Error(`nobody was signed in: ${JSON.stringify(body)}`);
  return { userId: body.user.user.id, tenant, session: body.sessionToken };
}
