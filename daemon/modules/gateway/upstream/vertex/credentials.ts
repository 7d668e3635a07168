import { isObject, parsed } from '../translate/content.ts';

/** How a key of this provider proves itself. */
export type Credential =
  | {
      readonly kind: 'service_account';
      readonly email: string;
      readonly privateKey: string;
      readonly keyId?: string;
      readonly tokenUri: string;
    }
  | {
      readonly kind: 'user';
      readonly clientId: string;
      readonly clientSecret: string;
      readonly refreshToken: string;
      readonly tokenUri: string;
    }
  | { readonly kind: 'token' }
  | { readonly kind: 'api_key' };

const TOKEN_URI = 'https://oauth2.googleapis.com/token';

/**
 * Reads a secret: the JSON of a service account or of a user (`gcloud auth application-default login`), an access token, or
 * an API key. Undefined for JSON of another kind, and for addresses of tokens that are not Google's: the secret would go there.
 */
export function readCredential(secret: string, baseUrl: string): Credential | undefined {
  if (!secret.trimStart().startsWith('{')) return { kind: /^(AIza|AQ\.)/.test(secret) ? 'api_key' : 'token' };
  const json = parsed(secret);
  if (!isObject(json)) return undefined;
  const text = (name: string) => (typeof json[name] === 'string' ? json[name] : '');
  const tokenUri = text('token_uri') || TOKEN_URI;
  if (tokenUri !== TOKEN_URI && URL.parse(tokenUri)?.origin !== URL.parse(baseUrl)?.origin) return undefined;
  if (json.type === 'service_account' && text('client_email') && text('private_key'))
    return {
      kind: 'service_account',
      email: text('client_email'),
      privateKey: text('private_key'),
      keyId: text('private_key_id') || undefined,
      tokenUri,
    };
  if (json.type === 'authorized_user' && text('refresh_token'))
    return {
      kind: 'user',
      clientId: text('client_id'),
      clientSecret: text('client_secret'),
      refreshToken: text('refresh_token'),
      tokenUri,
    };
  return undefined;
}
