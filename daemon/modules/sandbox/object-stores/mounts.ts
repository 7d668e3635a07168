import type { StorageMount } from '../../../../src/api/sandbox/lifecycle.ts';
import type { Value } from '../../../../src/api/schema.ts';
import type { FieldViolation } from '../../../../src/errors/app-error.ts';
import { credentialsOf } from './credentials.ts';

/** The kinds of object stores that are mounted. */
export type StoreType = 's3' | 'r2' | 'gcs' | 'azure';

/** A bucket in a sandbox, as it is kept with its configuration. Its credentials are in the environment beside it. */
export interface StoreMount {
  readonly type: StoreType;
  readonly bucket: string;
  readonly mountPath: string;
  /** The part of the bucket whose names begin so. */
  readonly subpath?: string;
  /** The origin of a store that is not its vendor's own, without a slash at its end. */
  readonly endpoint?: string;
}

type Environment = Readonly<Record<string, string>>;

const BUCKET = /^[A-Za-z0-9](?!.*\.\.)[A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/;
const CONTAINER = /^[a-z0-9](?!.*--)[a-z0-9-]{1,61}[a-z0-9]$/;
const REGION = /^[A-Za-z0-9-]{1,64}$/;
const ACCOUNT = /^[a-z0-9]{3,24}$/;

/** Whether a mount is one of an object store. */
export function isStoreType(type: string | undefined): type is StoreType {
  return type === 's3' || type === 'r2' || type === 'gcs' || type === 'azure';
}

/** The bucket mount that a request asks for. Call it with one that has no `violations`. */
export function storeMount(type: StoreType, mount: Value<typeof StorageMount>): StoreMount {
  const { bucket = '', mountPath = '', subpath, endpoint } = mount;
  return {
    type,
    bucket,
    mountPath,
    ...(subpath ? { subpath } : {}),
    ...(endpoint ? { endpoint: originOf(endpoint) ?? '' } : {}),
  };
}

/** What is wrong with the mount of an object store, beside what is checked of every mount. */
export function* violations(
  type: StoreType,
  { bucket = '', endpoint }: Value<typeof StorageMount>,
  env: Environment,
  field: string,
): Generator<FieldViolation> {
  if (bucket && !(type === 'azure' ? CONTAINER : BUCKET).test(bucket))
    yield { field: `${field}.bucket`, description: 'is no name of a bucket' };
  const bad = badEndpoint(type, endpoint, env);
  if (bad) yield { field: `${field}.endpoint`, description: bad };
  yield* badEnvironment(type, env);
}

function* badEnvironment(type: StoreType, env: Environment): Generator<FieldViolation> {
  const found = credentialsOf(type, env);
  if ('missing' in found)
    for (const name of found.missing)
      yield { field: `envVars.${name}`, description: `is required to mount ${type}` };
  else if ('bad' in found) yield { field: `envVars.${found.bad}`, description: found.why };
  const region = regionOf(env);
  if (region && !REGION.test(region)) yield { field: 'envVars.AWS_REGION', description: 'is no region' };
  const account = env.AZURE_STORAGE_ACCOUNT;
  if (type === 'azure' && account && !ACCOUNT.test(account))
    yield { field: 'envVars.AZURE_STORAGE_ACCOUNT', description: 'is no name of a storage account' };
}

/** The region that the environment names, as the tools of AWS read it. */
export function regionOf(env: Environment): string | undefined {
  return env.AWS_REGION || env.AWS_DEFAULT_REGION || undefined;
}

function badEndpoint(type: StoreType, endpoint: string | undefined, env: Environment): string | undefined {
  if (!endpoint) return type === 'r2' ? 'is required: https://<account>.r2.cloudflarestorage.com' : undefined;
  if (type === 'azure') return 'belongs to the other stores; AZURE_STORAGE_ACCOUNT names that of azure';
  if (type === 'gcs' && env.GOOGLE_APPLICATION_CREDENTIALS_JSON)
    return 'goes with HMAC keys (AWS_ACCESS_KEY_ID), not with a service account';
  return originOf(endpoint) === undefined
    ? 'must be an http or https address without path, query and credentials'
    : undefined;
}

function originOf(text: string): string | undefined {
  const url = URL.parse(text);
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) return undefined;
  const isPlain = url.pathname === '/' && !url.search && !url.hash && !url.username && !url.password;
  return isPlain && url.port !== '0' ? url.origin : undefined;
}
