import { createHash } from 'node:crypto';
import { AppError, fail } from '../../../../src/errors/app-error.ts';
import { newSecret } from '../../../../src/kit/id.ts';
import { KeyedLock } from '../../../../src/kit/keyed-lock.ts';
import { MINUTE_MS, SECOND_MS } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import type { Caller } from '../../../http/route.ts';
import type { Trust } from '../../../outbound/outbound.ts';
import type { Credentials } from '../connection/guarded-fetch.ts';
import type { Target } from '../connection/ways.ts';
import type { OAuth } from '../servers/auth.ts';
import type { ServerConfig } from '../servers/config.ts';
import type { OAuthStore } from './store.ts';
import { requestTokens, type Tokens, type TokenWay } from './token-request.ts';

/** An authorization that a person is to agree to. */
export interface Begun {
  /** Where the person goes. */
  readonly authorizationUrl: string;
  readonly expiresAt: number;
}

/** What comes back from the authorization server with the person (RFC 6749, 4.1.2). */
export interface Returned {
  readonly state?: string;
  readonly code?: string;
  readonly error?: string;
}

/** What was begun, sealed until the person comes back. */
interface Pending {
  readonly verifier: string;
  readonly redirectUri: string;
}

/** A server whose authorization is meant. */
export type OAuthServer = Pick<Target, 'id' | 'tenant' | 'name'> & {
  readonly config: Pick<ServerConfig, 'url' | 'auth'>;
};

const PENDING_MS = 10 * MINUTE_MS;
/** A token that ends this soon is not sent any more. */
const MARGIN_MS = 30 * SECOND_MS;

/** Gets and keeps the tokens of servers that ask for OAuth 2. */
export class OAuthService {
  private readonly lock = new KeyedLock();

  constructor(
    private readonly app: Pick<App, 'clock' | 'secrets' | 'audit' | 'outbound' | 'db'>,
    private readonly store: OAuthStore,
    private readonly trust: (tenant: string) => Trust,
  ) {}

  /** What proves to such a server who calls. */
  credentials(server: OAuthServer, oauth: OAuth): Credentials {
    return {
      headers: async () => ({ authorization: `Bearer ${await this.token(server, oauth)}` }),
      renew: async () => {
        const refused = this.tokens(server)?.accessToken;
        return (await this.renewed(server, oauth, refused)) !== undefined;
      },
    };
  }

  /** Begins an authorization: PKCE with S256 (RFC 7636), for this server alone (RFC 8707). Errors: failed_precondition. */
  begin({ actor }: Caller, server: OAuthServer, redirectUri: string): Begun {
    const oauth = codeGrantOf(server);
    const now = this.app.clock.now();
    const state = newSecret();
    const pending: Pending = { verifier: newSecret(), redirectUri };
    const { tenant, id: serverId } = server;
    const stateHash = hashOf(state);
    const expiresAt = now + PENDING_MS;
    const sealed = this.app.secrets.seal(tenant, stateHash, JSON.stringify(pending));
    this.app.db.transaction(() => {
      this.store.prune(now);
      this.store.begin({ stateHash, tenant, serverId, sealed, expiresAt });
      this.app.audit.record({ tenant, actor, action: 'mcp_server.authorize', target: serverId });
    });
    const url = new URL(oauth.authorizationUrl);
    const challenge = createHash('sha256').update(pending.verifier).digest('base64url');
    const parameters = {
      response_type: 'code',
      client_id: oauth.clientId,
      redirect_uri: redirectUri,
      ...{ state, code_challenge: challenge, code_challenge_method: 'S256' },
      ...scopeOf(oauth),
      resource: resourceOf(server),
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return { authorizationUrl: url.href, expiresAt };
  }

  /**
   * Ends an authorization with what the person brought back. Answers the server that `find` knows. Errors:
   * bad_link when the state is unknown, used or old; upstream_failed when it was refused.
   */
  async finish<T extends OAuthServer>(
    { state = '', code, error }: Returned,
    find: (tenant: string, id: string) => T,
  ): Promise<T> {
    const row = this.store.take(hashOf(state));
    if (!row || row.expiresAt <= this.app.clock.now()) throw fail('bad_link');
    const server = find(row.tenant, row.serverId);
    const oauth = codeGrantOf(server);
    if (error !== undefined || !code)
      throw fail('upstream_failed', { message: 'The authorization server did not agree.' });
    const opened = this.app.secrets.open(row.tenant, row.stateHash, row.sealed);
    const { verifier, redirectUri } = JSON.parse(opened) as Pending;
    const tokens = await requestTokens(
      oauth,
      {
        ...{ grant_type: 'authorization_code', code },
        ...{ redirect_uri: redirectUri, code_verifier: verifier, resource: resourceOf(server) },
      },
      this.way(server),
    );
    this.keep(server, tokens);
    return server;
  }

  private async token(server: OAuthServer, oauth: OAuth): Promise<string> {
    const known = this.tokens(server);
    const isGood = known && (known.expiresAt ?? Number.POSITIVE_INFINITY) > this.app.clock.now() + MARGIN_MS;
    const tokens = isGood ? known : await this.renewed(server, oauth, known?.accessToken);
    if (tokens) return tokens.accessToken;
    throw fail('failed_precondition', {
      message: `Nobody has authorized svc at the MCP server ${server.name} yet, or not any more: svc mcp authorize ${server.name}`,
    });
  }

  /** Other tokens than the refused one; undefined when a person has to agree first. One request at a time for a server. */
  private renewed(
    server: OAuthServer,
    oauth: OAuth,
    refused: string | undefined,
  ): Promise<Tokens | undefined> {
    return this.lock.run(server.id, async () => {
      const known = this.tokens(server);
      if (known && known.accessToken !== refused) return known;
      const { refreshToken } = known ?? {};
      const grant = grantOf(oauth, refreshToken);
      if (!grant) return undefined;
      try {
        const resource = resourceOf(server);
        const tokens = await requestTokens(oauth, { ...grant, resource }, this.way(server));
        const kept = refreshToken ? { refreshToken, ...tokens } : tokens;
        this.keep(server, kept);
        return kept;
      } catch (error) {
        // What the server has ended is not tried again; silence and failures may pass.
        if (refreshToken && isEnded(error)) {
          this.store.forgetTokens(server.tenant, server.id);
          return undefined;
        }
        throw error;
      }
    });
  }

  private tokens({ tenant, id }: OAuthServer): Tokens | undefined {
    const sealed = this.store.tokens(tenant, id);
    return sealed === undefined
      ? undefined
      : (JSON.parse(this.app.secrets.open(tenant, id, sealed)) as Tokens);
  }

  private keep({ tenant, id: serverId }: OAuthServer, tokens: Tokens): void {
    const sealed = this.app.secrets.seal(tenant, serverId, JSON.stringify(tokens));
    this.store.keepTokens({ serverId, tenant, sealed, updatedAt: this.app.clock.now() });
  }

  private way({ tenant }: OAuthServer): TokenWay {
    return { outbound: this.app.outbound, trust: this.trust(tenant), nowMs: this.app.clock.now() };
  }
}

function codeGrantOf({ name, config: { auth } }: OAuthServer): OAuth {
  if (auth.kind === 'oauth2' && auth.grant === 'authorization_code') return auth;
  throw fail('failed_precondition', { message: `The MCP server ${name} needs nobody to agree.` });
}

/** How tokens are asked for without a person; undefined when that cannot be. */
function grantOf(oauth: OAuth, refreshToken: string | undefined): Record<string, string> | undefined {
  if (refreshToken) return { grant_type: 'refresh_token', refresh_token: refreshToken };
  if (oauth.grant === 'authorization_code') return undefined;
  return { grant_type: 'client_credentials', ...scopeOf(oauth) };
}

function scopeOf({ scopes }: OAuth): { scope?: string } {
  return scopes.length > 0 ? { scope: scopes.join(' ') } : {};
}

/** The name of a server as the audience of its tokens. */
function resourceOf({ config }: OAuthServer): string {
  const url = new URL(config.url);
  return `${url.origin}${url.pathname === '/' ? '' : url.pathname}`;
}

function isEnded(error: unknown): boolean {
  return error instanceof AppError && error.code === 'upstream_failed' && /invalid_grant/.test(error.message);
}

function hashOf(state: string): string {
  return createHash('sha256').update(state).digest('hex');
}
