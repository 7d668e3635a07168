import type { Credential } from '../../src/client/address.ts';
import type { ContextStore } from './contexts.ts';
import { localInstance } from './local.ts';
import type { Env } from './paths.ts';

/** What the command line says about the daemon to call. */
export interface ConnectionFlags {
  readonly apiUrl?: string;
  readonly apiKey?: string;
  readonly context?: string;
}

/** The daemon to call and the credential for it. */
export interface Connection {
  readonly url: string;
  readonly credential: Credential;
  /** Where the address came from, for a person. */
  readonly source: string;
  /** The context that it is, when it is one. */
  readonly context?: string;
}

interface Place {
  readonly url: string;
  readonly source: string;
  readonly context?: string;
}

/**
 * Flag > SVC_API_URL and SVC_API_KEY > active context > the instance of this machine.
 * A stored credential goes only to the address it was stored for.
 * Errors: not_found when the context that is named does not exist.
 */
export function resolveConnection(flags: ConnectionFlags, env: Env, store: ContextStore): Connection {
  const place = placeOf(flags, env, store);
  const apiKey = flags.apiKey || env.SVC_API_KEY;
  return { ...place, credential: apiKey ? { apiKey } : storedCredential(place, env, store) };
}

function placeOf(flags: ConnectionFlags, env: Env, store: ContextStore): Place {
  if (flags.apiUrl) return { url: flags.apiUrl, source: '--api-url' };
  if (flags.context) return contextPlace(flags.context, store);
  if (env.SVC_API_URL) return { url: env.SVC_API_URL, source: 'SVC_API_URL' };
  const active = store.active();
  if (active && store.find(active)) return contextPlace(active, store);
  return { url: localInstance(env).url, source: 'this machine' };
}

function contextPlace(name: string, store: ContextStore): Place {
  return { url: store.get(name).apiUrl, source: `context ${name}`, context: name };
}

function storedCredential(place: Place, env: Env, store: ContextStore): Credential {
  const name = place.context ?? store.list().find(({ apiUrl }) => sameOrigin(apiUrl, place.url))?.name;
  const stored = name === undefined ? undefined : store.credential(name);
  if (stored) return stored;
  const local = localInstance(env);
  return sameOrigin(local.url, place.url) ? { apiKey: local.apiKey } : {};
}

function sameOrigin(a: string, b: string): boolean {
  return URL.canParse(a) && URL.canParse(b) && new URL(a).origin === new URL(b).origin;
}
