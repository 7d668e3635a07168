import type { Auth } from './auth.ts';
import type { ServerConfig } from './config.ts';
import { secretHeader } from './hidden.ts';

const MASK = '[redacted]';
/** Shorter texts stand in answers for other reasons; headers say many things that are no secrets. */
const SHORTEST = { auth: 8, header: 16 } as const;

/** What a server says, without the credentials that it was sent: as they are, and in the encodings of URLs and Basic authentication. */
export function withoutSecrets(text: string, config: Pick<ServerConfig, 'auth' | 'headers'>): string {
  let rest = text;
  for (const secret of secretsOf(config))
    for (const form of [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')])
      rest = rest.replaceAll(form, MASK);
  return rest;
}

function secretsOf({ auth, headers }: Pick<ServerConfig, 'auth' | 'headers'>): string[] {
  const sent = Object.entries(headers).filter(([name]) => secretHeader(name));
  return [
    ...secretsIn(auth).filter((value) => value.length >= SHORTEST.auth),
    ...sent.map(([, value]) => value).filter((value) => value.length >= SHORTEST.header),
  ];
}

function secretsIn(auth: Auth): string[] {
  switch (auth.kind) {
    case 'none':
      return [];
    case 'api_key':
      return [auth.apiKey];
    case 'bearer':
      return [auth.token];
    case 'oauth2':
      return [auth.clientSecret];
  }
}
