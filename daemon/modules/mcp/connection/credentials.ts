import type { OAuthService } from '../oauth/service.ts';
import type { Credentials } from './guarded-fetch.ts';
import type { Target } from './ways.ts';

/** What proves to a server who calls. */
export function credentialsOf(target: Target, oauth: OAuthService): Credentials {
  const { auth } = target.config;
  switch (auth.kind) {
    case 'none':
      return { headers: async () => ({}) };
    case 'api_key':
      return auth.parameter === ''
        ? { headers: async () => ({ [auth.header]: auth.apiKey }) }
        : { headers: async () => ({}), query: { [auth.parameter]: auth.apiKey } };
    case 'bearer':
      return { headers: async () => ({ authorization: `Bearer ${auth.token}` }) };
    case 'oauth2':
      return oauth.credentials(target, auth);
  }
}
