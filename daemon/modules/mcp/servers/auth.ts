import { invalid } from '../../../../src/errors/app-error.ts';
import type { AuthKind } from '../tables.ts';
import { checkHeader, readUrl } from './checks.ts';
import type { WantedServer } from './config.ts';
import { hide, type Kept, reveal } from './hidden.ts';

/** How a server is authenticated to, with the secrets. */
export type Auth =
  | { readonly kind: 'none' }
  /** A key in a header, or in the query when `parameter` is not empty. */
  | { readonly kind: 'api_key'; readonly apiKey: string; readonly header: string; readonly parameter: string }
  | { readonly kind: 'bearer'; readonly token: string }
  | OAuth;

/** A client of an authorization server (RFC 6749). */
export interface OAuth {
  readonly kind: 'oauth2';
  readonly clientId: string;
  /** Empty for a public client. */
  readonly clientSecret: string;
  /** Where a person agrees; empty with the grant `client_credentials`. */
  readonly authorizationUrl: string;
  readonly tokenUrl: string;
  readonly scopes: readonly string[];
  readonly grant: 'authorization_code' | 'client_credentials';
}

const KINDS = {
  MCP_AUTH_TYPE_NONE: 'none',
  MCP_AUTH_TYPE_API_KEY: 'api_key',
  MCP_AUTH_TYPE_BEARER: 'bearer',
  MCP_AUTH_TYPE_OAUTH2: 'oauth2',
} as const;

/** Kinds as the API names them. */
export const WIRE_AUTH = {
  none: 'MCP_AUTH_TYPE_NONE',
  api_key: 'MCP_AUTH_TYPE_API_KEY',
  bearer: 'MCP_AUTH_TYPE_BEARER',
  oauth2: 'MCP_AUTH_TYPE_OAUTH2',
} as const;

/** The fields of each kind, with the other names that they may be sent under. */
const FIELDS: Readonly<Record<AuthKind, Readonly<Record<string, readonly string[]>>>> = {
  none: {},
  api_key: {
    apiKey: ['api_key', 'key', 'value'],
    header: ['headerName', 'header_name'],
    parameter: ['queryParam', 'query_param'],
  },
  bearer: { token: ['accessToken', 'access_token', 'bearerToken', 'bearer_token'] },
  oauth2: {
    clientId: ['client_id'],
    clientSecret: ['client_secret'],
    authorizationUrl: ['authorization_url', 'authorizeUrl', 'authorize_url', 'authUrl', 'auth_url'],
    tokenUrl: ['token_url'],
    scopes: ['scope'],
    grant: ['grantType', 'grant_type'],
  },
};

const SECRETS = new Set(['apiKey', 'token', 'clientSecret']);
const isSecret = (name: string) => SECRETS.has(name);
const MOST_TEXT = 8_192;

/**
 * Reads how a server is authenticated to, over what was there before. Errors: invalid_argument naming the field, also when
 * the secret of a client would go to another authorization server.
 */
export function readAuth(
  { authType, authConfig }: Pick<WantedServer, 'authType' | 'authConfig'>,
  earlier: Auth | undefined,
): Kept & { readonly auth: Auth } {
  const wanted =
    authType === undefined || authType === 'MCP_AUTH_TYPE_UNSPECIFIED' ? undefined : KINDS[authType];
  const kind = wanted ?? earlier?.kind ?? 'none';
  const before = earlier?.kind === kind ? textsOf(earlier) : {};
  const sent = authConfig === undefined ? undefined : readTexts(kind, authConfig);
  const { values, keepsSecrets } = reveal(sent, before, isSecret, 'authConfig');
  const auth = build(kind, values);
  const movesAway = before.tokenUrl !== undefined && originOf(before.tokenUrl) !== originOf(values.tokenUrl);
  if (keepsSecrets && movesAway)
    throw refuse('tokenUrl', 'is another authorization server; send clientSecret with it');
  return { auth, keepsSecrets };
}

/** How a server is authenticated to, as it is shown: secrets as masks. */
export function showAuth(auth: Auth): Record<string, unknown> {
  const shown = hide(textsOf(auth), isSecret);
  const given = Object.entries(shown).filter(([, text]) => text !== '');
  return { ...Object.fromEntries(given), ...(auth.kind === 'oauth2' ? { scopes: auth.scopes } : {}) };
}

function build(kind: AuthKind, values: Readonly<Record<string, string>>): Auth {
  const { apiKey = '', header = '', parameter = '', token = '' } = values;
  switch (kind) {
    case 'none':
      return { kind };
    case 'api_key':
      required({ apiKey });
      checkHeader(header || 'x-api-key', apiKey, header ? 'authConfig.header' : 'authConfig.apiKey');
      return { kind, apiKey, header: header || (parameter ? '' : 'X-API-Key'), parameter };
    case 'bearer':
      required({ token });
      checkHeader('authorization', token, 'authConfig.token');
      return { kind, token };
    case 'oauth2':
      return buildOAuth(values);
  }
}

function buildOAuth(values: Readonly<Record<string, string>>): OAuth {
  const { clientId = '', clientSecret = '', authorizationUrl = '', tokenUrl = '', scopes = '' } = values;
  const { grant = 'authorization_code' } = values;
  if (grant !== 'authorization_code' && grant !== 'client_credentials')
    throw refuse('grant', 'must be authorization_code or client_credentials');
  required({ clientId, ...(grant === 'client_credentials' ? { clientSecret } : {}) });
  readUrl(tokenUrl, 'authConfig.tokenUrl');
  if (grant === 'authorization_code') readUrl(authorizationUrl, 'authConfig.authorizationUrl');
  return {
    kind: 'oauth2',
    ...{ clientId, clientSecret, authorizationUrl, tokenUrl, grant },
    scopes: scopes.split(/[\s,]+/).filter((scope) => scope !== ''),
  };
}

function textsOf(auth: Auth): Record<string, string> {
  const { kind: _, ...fields } = auth;
  const texts = Object.entries(fields).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(' ') : value,
  ]);
  return Object.fromEntries(texts) as Record<string, string>;
}

/** The fields of a request under their own names. */
function readTexts(kind: AuthKind, sent: Readonly<Record<string, unknown>>): Record<string, string> {
  const names = Object.entries(FIELDS[kind]).flatMap(([name, others]) =>
    [name, ...others].map((one) => [one, name] as const),
  );
  const known = new Map(names);
  const texts = Object.entries(sent).map(([key, value]) => {
    const name = known.get(key);
    if (!name)
      throw refuse(key, `is not known; ${kind} takes ${Object.keys(FIELDS[kind]).join(', ') || 'nothing'}`);
    const text = Array.isArray(value) ? value.join(' ') : value;
    if (typeof text !== 'string' || text.length > MOST_TEXT)
      throw refuse(key, `must be text of at most ${MOST_TEXT} characters`);
    return [name, text] as const;
  });
  return Object.fromEntries(texts);
}

function required(fields: Readonly<Record<string, string>>): void {
  const missing = Object.entries(fields).find(([, text]) => text === '');
  if (missing) throw refuse(missing[0], 'is required');
}

function originOf(url: string | undefined): string {
  return URL.parse(url ?? '')?.origin ?? '';
}

function refuse(name: string, description: string) {
  return invalid({ field: `authConfig.${name}`, description });
}
