import { readFileSync } from 'node:fs';
import type { CatalogEntry } from '../catalog/entry.ts';

/** The variables of the environment; undefined when one is empty or absent. */
export type Variables = (name: string) => string | undefined;

/** What the environment says of a provider. */
export interface FromEnvironment {
  /** Its key, and the variable that has it. */
  readonly key?: { readonly variable: string; readonly secret: string };
  readonly baseUrl: string;
  readonly settings: Readonly<Record<string, string>>;
}

/**
 * Reads the variables that a provider's own SDK reads. Errors: any, when the file that GOOGLE_APPLICATION_CREDENTIALS
 * names cannot be read.
 */
export function readEnvironment({ name, variables }: CatalogEntry, env: Variables): FromEnvironment {
  const settings = Object.entries(variables.settings ?? {}).flatMap(([setting, names]) => {
    const value = first(names, env)?.value;
    return value === undefined ? [] : [[setting, value] as const];
  });
  const key = (KEY_READERS[name] ?? readKey)(variables.key ?? [], env);
  return {
    ...(key ? { key } : {}),
    baseUrl: first(variables.baseUrl ?? [], env)?.value ?? '',
    settings: Object.fromEntries(settings),
  };
}

type KeyReader = (names: readonly string[], env: Variables) => FromEnvironment['key'];

const readKey: KeyReader = (names, env) => {
  const found = first(names, env);
  return found && { variable: found.name, secret: found.value };
};

/** Providers whose credential is not one variable. */
const KEY_READERS: Readonly<Record<string, KeyReader>> = {
  bedrock(_, env) {
    const bearer = env('AWS_BEARER_TOKEN_BEDROCK');
    if (bearer) return { variable: 'AWS_BEARER_TOKEN_BEDROCK', secret: bearer };
    const pair = [env('AWS_ACCESS_KEY_ID'), env('AWS_SECRET_ACCESS_KEY')];
    if (pair.includes(undefined)) return undefined;
    const session = env('AWS_SESSION_TOKEN');
    return { variable: 'AWS_ACCESS_KEY_ID', secret: [...pair, ...(session ? [session] : [])].join(':') };
  },
  vertex(_, env) {
    const path = env('GOOGLE_APPLICATION_CREDENTIALS');
    if (!path) return undefined;
    return { variable: 'GOOGLE_APPLICATION_CREDENTIALS', secret: readFileSync(path, 'utf8').trim() };
  },
};

function first(names: readonly string[], env: Variables) {
  for (const name of names) {
    const value = env(name);
    if (value !== undefined) return { name, value };
  }
  return undefined;
}
