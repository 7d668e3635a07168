import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair } from 'jose';
import Provider, { type JWKS, type KoaContextWithOIDC } from 'oidc-provider';

const CLIENT = { id: 'svc', secret: 'a-secret-of-the-client-for-tests-only' };
const DAY_S = 86_400;

/** An OpenID Connect provider in this process, where anybody signs in by naming themselves (`login_hint`). */
export class IdentityProvider {
  private handle: (request: IncomingMessage, response: ServerResponse) => void = (_, response) => {
    response.writeHead(503).end();
  };

  private constructor(private readonly server: Server) {}

  static async start(): Promise<IdentityProvider> {
    const server = createServer((request, response) => provider.handle(request, response));
    const provider = new IdentityProvider(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return provider;
  }

  get issuer(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** What auth.oidc holds for it, under one name. */
  settings(name: string): string {
    const { issuer } = this;
    return JSON.stringify({ [name]: { issuer, client_id: CLIENT.id, client_secret: CLIENT.secret } });
  }

  /** Begins to serve sign-ins that lead back to this address. */
  async serve(redirectUri: string): Promise<void> {
    const { privateKey } = await generateKeyPair('RS256', { extractable: true });
    const provider = createProvider(this.issuer, redirectUri, {
      keys: [{ ...(await exportJWK(privateKey)), use: 'sig', alg: 'RS256' }],
    } as JWKS);
    const callback = provider.callback();
    this.handle = (request, response) => {
      if (request.url?.startsWith('/interaction/')) void signInAsHinted(provider, request, response);
      else void callback(request, response);
    };
  }

  /** Follows a browser through the provider's pages and answers what it brings back. */
  async walk(authUrl: string, login: string): Promise<{ code: string; state: string }> {
    const cookies = new Map<string, string>();
    let url = new URL(authUrl);
    url.searchParams.set('login_hint', login);
    while (url.origin === this.issuer) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const response = await fetch(url, { redirect: 'manual', headers: { cookie } });
      for (const set of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
        cookies.set(name, value);
      }
      const location = response.headers.get('location');
      if (!location) throw new Error(`the provider answered ${response.status}: ${await response.text()}`);
      url = new URL(location, url);
    }
    return { code: url.searchParams.get('code') ?? '', state: url.searchParams.get('state') ?? '' };
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

function createProvider(issuer: string, redirectUri: string, jwks: JWKS): Provider {
  return new Provider(issuer, {
    jwks,
    clients: [{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: [redirectUri] }],
    claims: { email: ['email', 'email_verified'], profile: ['name'] },
    conformIdTokenClaims: false,
    cookies: { keys: ['a key for the cookies of tests'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    ttl: { AccessToken: DAY_S, Grant: DAY_S, IdToken: 600, Interaction: 600, Session: DAY_S },
    findAccount: (_, id) => ({ accountId: id, claims: async () => claimsOf(id) }),
    loadExistingGrant,
  });
}

function claimsOf(login: string) {
  return { sub: login, email: `${login}@example.com`, email_verified: true, name: login };
}

async function signInAsHinted(provider: Provider, request: IncomingMessage, response: ServerResponse) {
  const { params } = await provider.interactionDetails(request, response);
  await provider.interactionFinished(request, response, { login: { accountId: String(params.login_hint) } });
}

/** Nobody is asked for consent. */
async function loadExistingGrant({ oidc }: KoaContextWithOIDC) {
  const grant = new oidc.provider.Grant({
    clientId: oidc.client?.clientId,
    accountId: oidc.session?.accountId,
  });
  grant.addOIDCScope('openid profile email offline_access');
  await grant.save();
  return grant;
}
