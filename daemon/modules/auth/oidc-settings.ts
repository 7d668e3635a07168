import { fail, invalid } from '../../../src/errors/app-error.ts';
import type { Config } from '../../config/config.ts';
import { isLocalNetwork } from '../../http/gate/addresses.ts';

const SETTING = 'auth.oidc';
const DEFAULT_SCOPES = ['openid', 'profile', 'email', 'offline_access'];

/** One identity provider of the configuration. */
export interface OidcSettings {
  /** Its name in auth.oidc. */
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  /** Absent for a public client. */
  readonly clientSecret?: string;
  readonly scopes: readonly string[];
  /** Its word on an email counts for an account that has never signed in through a provider. */
  readonly linkByEmail: boolean;
}

/**
 * The provider that a caller means: `<Name>OAuth` or `authkit` in `provider`, an enterprise connection in
 * `connectionId`. Each is an entry of auth.oidc, of that name or, for `<Name>OAuth`, of the name alone.
 * Errors: invalid_argument naming the field, not_configured when there is no entry at all.
 */
export function findProvider(config: Config, provider = '', connectionId = ''): OidcSettings {
  const entries = Object.keys(config.get(SETTING));
  if (entries.length === 0)
    throw fail('not_configured', { message: 'auth.oidc names no identity provider.' });
  const [field, wanted] = connectionId ? ['connectionId', connectionId] : ['provider', provider];
  const bare = connectionId ? wanted : wanted.replace(/OAuth$/, '');
  const name =
    entries.find((entry) => entry === wanted) ??
    entries.find((entry) => !connectionId && entry.toLowerCase() === bare.toLowerCase());
  if (name === undefined) {
    const description = wanted ? 'names no identity provider of this instance' : 'is required';
    throw invalid({ field, description });
  }
  return readProvider(config, name);
}

/** An entry of auth.oidc. Errors: invalid_argument naming the setting. */
export function readProvider(config: Config, name: string): OidcSettings {
  const entry = config.get(SETTING)[name];
  const key = `${SETTING}.${name}`;
  if (typeof entry !== 'object' || entry === null)
    throw invalid({ field: key, description: 'must be a mapping' });
  const { issuer, client_id, client_secret, scopes, link_by_email } = entry as Record<string, unknown>;
  if (typeof issuer !== 'string' || !isSafeIssuer(issuer))
    throw invalid({ field: `${key}.issuer`, description: 'must be an https:// URL' });
  if (typeof client_id !== 'string' || client_id === '')
    throw invalid({ field: `${key}.client_id`, description: 'is required' });
  const isList = Array.isArray(scopes) && scopes.every((scope) => typeof scope === 'string');
  return {
    name,
    issuer,
    clientId: client_id,
    clientSecret: typeof client_secret === 'string' && client_secret ? client_secret : undefined,
    scopes: isList ? scopes : DEFAULT_SCOPES,
    linkByEmail: link_by_email === true,
  };
}

/** Tokens travel to the issuer, so it speaks TLS unless it is in this network. */
function isSafeIssuer(issuer: string): boolean {
  const url = URL.parse(issuer);
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocalNetwork(url.hostname));
}
