import type { StoreType } from './mounts.ts';

/** What a store is opened with: the tool's names of its settings. */
export type Credentials = Readonly<Record<string, string>>;

/** The credentials of a mount, or what is wrong with the environment that they come from. */
export type Found =
  | { readonly settings: Credentials }
  | { readonly missing: readonly string[] }
  | { readonly bad: string; readonly why: string };

type Environment = Readonly<Record<string, string>>;

/** The parts of a service account that are used; others could name files and programs of this host. */
const ACCOUNT_PARTS = ['client_email', 'private_key', 'private_key_id', 'project_id', 'token_uri'] as const;

/** Reads the credentials of a store from the environment of a sandbox, by the names that its vendor's tools use. */
export function credentialsOf(type: StoreType, env: Environment): Found {
  if (type === 'azure') return azure(env);
  if (type === 'gcs' && !env.AWS_ACCESS_KEY_ID) return serviceAccount(env);
  const missing = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'].filter((name) => !env[name]);
  if (missing.length > 0) return { missing };
  return {
    settings: {
      ACCESS_KEY_ID: env.AWS_ACCESS_KEY_ID ?? '',
      SECRET_ACCESS_KEY: env.AWS_SECRET_ACCESS_KEY ?? '',
      ...(env.AWS_SESSION_TOKEN ? { SESSION_TOKEN: env.AWS_SESSION_TOKEN } : {}),
    },
  };
}

function azure(env: Environment): Found {
  const { AZURE_STORAGE_ACCOUNT: account, AZURE_STORAGE_KEY: key, AZURE_STORAGE_SAS_TOKEN: token } = env;
  const missing = [
    ...(account ? [] : ['AZURE_STORAGE_ACCOUNT']),
    ...(key || token ? [] : ['AZURE_STORAGE_KEY']),
  ];
  if (!account || missing.length > 0) return { missing };
  if (key) return { settings: { ACCOUNT: account, KEY: key } };
  const bad = 'AZURE_STORAGE_SAS_TOKEN';
  if (!token || !/^\??[\w=&%.:+/~-]+$/.test(token)) return { bad, why: 'is no shared access signature' };
  return { settings: { ACCOUNT: account, SAS: token.replace(/^\?/, '') } };
}

function serviceAccount(env: Environment): Found {
  const name = 'GOOGLE_APPLICATION_CREDENTIALS_JSON';
  const text = env[name];
  if (!text) return { missing: [name] };
  const account = parseObject(text);
  const parts = ACCOUNT_PARTS.flatMap((part) => {
    const value = account?.[part];
    return typeof value === 'string' ? [[part, value] as const] : [];
  });
  const known = Object.fromEntries(parts);
  if (account?.type !== 'service_account' || !known.client_email || !known.private_key)
    return { bad: name, why: 'must be the JSON of a service account, with client_email and private_key' };
  return {
    settings: { SERVICE_ACCOUNT_CREDENTIALS: JSON.stringify({ type: 'service_account', ...known }) },
  };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
