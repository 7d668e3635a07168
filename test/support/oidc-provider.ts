import { once } from 'node:events';
import { createServer } from 'node:http';
import { exportJWK, generateKeyPair } from 'jose';
import Provider, { type Configuration, type errors } from 'oidc-provider';
import { type ChildServer, startChild } from './child-server.ts';

/** Somebody who has an account at the provider. */
export interface Account {
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
  readonly picture?: string;
}

/** How the provider behaves. */
export interface OidcOptions {
  /** A fixed port, to start it again with other keys. */
  readonly port?: number;
  readonly clientId: string;
  readonly clientSecret?: string;
  readonly redirectUris: readonly string[];
  /** By subject. The test chooses one by `login_hint` in the address that it opens. */
  readonly accounts: Readonly<Record<string, Account>>;
  /** How the client proves itself; `none` for a public client. */
  readonly authMethod?: 'client_secret_basic' | 'client_secret_post' | 'none';
  /** Seconds that an access token lives. Such tokens are JWTs when it is set, else opaque for an hour. */
  readonly accessTokenTtl?: number;
  /** Gives no refresh tokens. */
  readonly noRefresh?: boolean;
}

/** Something that the provider did. */
export interface OidcEvent {
  readonly grant: string;
}

/** Starts an OpenID provider on this machine, in a process of its own. Its issuer is `http://localhost:<port>`. */
export function startOidcProvider(options: OidcOptions): Promise<ChildServer<OidcEvent>> {
  return startChild(import.meta.path, [JSON.stringify(options)]);
}

/** Goes the way of a browser: opens the provider's page as somebody and answers what comes back to the redirect URI. */
export async function signInAtProvider(authUrl: string, subject: string): Promise<URLSearchParams> {
  const start = new URL(authUrl);
  start.searchParams.set('login_hint', subject);
  const issuer = start.origin;
  const cookies = new Map<string, string>();
  let url = start;
  for (let step = 0; step < 10; step++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } });
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get('location');
    if (!location) throw new Error(`the provider answered ${response.status}: ${await response.text()}`);
    url = new URL(location, url);
    if (url.origin !== issuer) return url.searchParams;
  }
  throw new Error('the provider redirects in circles');
}

function configure(options: OidcOptions, jwk: object): Configuration {
  const { clientId, clientSecret, redirectUris, accounts, authMethod, accessTokenTtl, noRefresh } = options;
  return {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [...redirectUris],
        grant_types: noRefresh ? ['authorization_code'] : ['authorization_code', 'refresh_token'],
        token_endpoint_auth_method: authMethod ?? 'client_secret_basic',
      },
    ],
    clientAuthMethods: [authMethod ?? 'client_secret_basic'],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'picture'] },
    conformIdTokenClaims: false,
    findAccount: (_, id) => ({ accountId: id, claims: async () => ({ sub: id, ...accounts[id] }) }),
    issueRefreshToken: async () => !noRefresh,
    pkce: { required: () => true },
    cookies: { keys: ['not a secret'] },
    jwks: { keys: [jwk] },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    features: {
      devInteractions: { enabled: false },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: accessTokenTtl !== undefined,
        defaultResource: () => 'urn:svc:test',
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: '',
          accessTokenFormat: 'jwt',
          accessTokenTTL: accessTokenTtl,
        }),
      },
    },
  };
}

/** Answers the login and the consent page at once, as whoever the address asked for. */
function answerInteractions(provider: Provider): void {
  provider.use(async (context, next) => {
    if (!context.path.startsWith('/interaction/')) return next();
    const { prompt, params, session, grantId } = await provider.interactionDetails(context.req, context.res);
    if (prompt.name === 'login') {
      const login = { accountId: String(params.login_hint) };
      return provider.interactionFinished(context.req, context.res, { login });
    }
    const known = grantId === undefined ? undefined : await provider.Grant.find(grantId);
    const grant =
      known ?? new provider.Grant({ accountId: session?.accountId, clientId: String(params.client_id) });
    grant.addOIDCScope(String(params.scope));
    const consent = { grantId: await grant.save() };
    await provider.interactionFinished(
      context.req,
      context.res,
      { consent },
      { mergeWithLastSubmission: true },
    );
  });
}

async function serve(options: OidcOptions): Promise<void> {
  const say = (event: object) => void process.stdout.write(`${JSON.stringify(event)}\n`);
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const jwk = { ...(await exportJWK(privateKey)), kid: crypto.randomUUID(), use: 'sig', alg: 'RS256' };
  const server = createServer();
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const provider = new Provider(`http://localhost:${port}`, configure(options, jwk));
  answerInteractions(provider);
  provider.on('grant.success', (context) => say({ grant: String(context.oidc.params?.grant_type) }));
  provider.on('grant.error', (_, error: errors.OIDCProviderError) =>
    say({ grant: `refused: ${error.error}` }),
  );
  server.on('request', provider.callback());
  say({ port });
}

if (import.meta.main) await serve(JSON.parse(process.argv[2] ?? '{}') as OidcOptions);
