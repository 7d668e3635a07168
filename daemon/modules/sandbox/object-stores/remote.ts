import { fail } from '../../../../src/errors/app-error.ts';
import { credentialsOf } from './credentials.ts';
import { regionOf, type StoreMount } from './mounts.ts';

/** A bucket as rclone is told of it. */
export interface Remote {
  /** What is mounted: `store:bucket/folder`. */
  readonly path: string;
  /** The settings of `store:`, secrets among them: for the environment of the program alone. */
  readonly env: Readonly<Record<string, string>>;
}

const PREFIX = 'RCLONE_CONFIG_STORE_';

/** The remote of a mount, with the credentials from the environment of its sandbox. Errors: failed_precondition without them. */
export function remoteOf(mount: StoreMount, env: Readonly<Record<string, string>>): Remote {
  const found = credentialsOf(mount.type, env);
  if (!('settings' in found))
    throw fail('failed_precondition', {
      message: `The sandbox has no credentials to mount ${mount.bucket}.`,
    });
  const settings = settingsOf(mount, env, found.settings);
  const folder = mount.subpath ? `/${mount.subpath}` : '';
  return {
    path: `store:${mount.bucket}${folder}`,
    env: Object.fromEntries(Object.entries(settings).map(([name, value]) => [PREFIX + name, value])),
  };
}

function settingsOf(
  mount: StoreMount,
  env: Readonly<Record<string, string>>,
  credentials: Readonly<Record<string, string>>,
): Record<string, string> {
  if (mount.type === 'azure') return azureSettings(mount, credentials);
  if (credentials.SERVICE_ACCOUNT_CREDENTIALS)
    return { TYPE: 'google cloud storage', BUCKET_POLICY_ONLY: 'true', ...credentials };
  const region = mount.type === 'r2' ? 'auto' : regionOf(env);
  const endpoint = mount.endpoint ?? (mount.type === 'gcs' ? 'https://storage.googleapis.com' : undefined);
  return {
    TYPE: 's3',
    PROVIDER: endpoint ? 'Other' : 'AWS',
    // Whoever may only read and write objects may not look for the bucket, or make it.
    NO_CHECK_BUCKET: 'true',
    ENV_AUTH: 'false',
    REGION: region ?? 'us-east-1',
    ...(endpoint ? { ENDPOINT: endpoint } : {}),
    ...credentials,
  };
}

/** A signature may hold for one container only: the address names it. */
function azureSettings(
  { bucket }: StoreMount,
  { SAS: signature, ...credentials }: Readonly<Record<string, string>>,
): Record<string, string> {
  if (signature === undefined) return { TYPE: 'azureblob', ...credentials };
  const { ACCOUNT: account = '' } = credentials;
  return { TYPE: 'azureblob', SAS_URL: `https://${account}.blob.core.windows.net/${bucket}?${signature}` };
}
