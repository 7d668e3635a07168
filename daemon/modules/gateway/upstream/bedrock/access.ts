import { AwsV4Signer } from 'aws4fetch';
import type { Upstream } from '../adapter.ts';
import { UpstreamError } from '../error.ts';
import { isObject, parsed } from '../translate/content.ts';

const DEFAULT_REGION = 'us-east-1';

/** The region of a provider: its setting, or what its address says. */
export function regionOf({ account }: Upstream): string {
  return (
    account.settings.region ??
    /\bbedrock[\w-]*\.([a-z0-9-]+)\.amazonaws\./.exec(account.baseUrl)?.[1] ??
    DEFAULT_REGION
  );
}

/** An access key of AWS, for signatures. */
export interface AccessKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/**
 * The headers that open the door to one call: the secret as bearer token, or a signature (AWS Signature Version 4) made with
 * it. Errors: UpstreamError of kind key when there is no secret.
 */
export async function signedHeaders(
  upstream: Upstream,
  call: {
    readonly url: string;
    readonly method: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
  },
): Promise<Record<string, string>> {
  const secret = upstream.key?.secret ?? '';
  if (secret === '') throw new UpstreamError('key', `The provider ${upstream.account.name} has no key.`);
  const access = accessKeyOf(secret);
  if (!access) return { ...call.headers, authorization: `Bearer ${secret}` };
  const signer = new AwsV4Signer({
    ...call,
    ...access,
    service: 'bedrock',
    region: regionOf(upstream),
    appendSessionToken: false,
  });
  const { headers } = await signer.sign();
  headers.delete('host');
  return Object.fromEntries(headers);
}

/**
 * An access key out of a secret: `id:secret`, `id:secret:session token`, or the JSON that `aws sts` prints. Undefined when
 * the secret is a bearer token (an API key of Bedrock).
 */
export function accessKeyOf(secret: string): AccessKey | undefined {
  if (secret.startsWith('{')) return fromJson(parsed(secret));
  const [accessKeyId = '', secretAccessKey = '', sessionToken] = secret.split(':');
  if (!/^A[A-Z0-9]{15,127}$/.test(accessKeyId) || secretAccessKey === '') return undefined;
  return { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) };
}

function fromJson(value: unknown): AccessKey | undefined {
  if (!isObject(value)) return undefined;
  const inner = isObject(value.Credentials) ? value.Credentials : value;
  const text = (...names: string[]) =>
    names.map((name) => inner[name]).find((found) => typeof found === 'string') as string | undefined;
  const accessKeyId = text('accessKeyId', 'AccessKeyId', 'access_key_id', 'aws_access_key_id');
  const secretAccessKey = text(
    'secretAccessKey',
    'SecretAccessKey',
    'secret_access_key',
    'aws_secret_access_key',
  );
  const sessionToken = text('sessionToken', 'SessionToken', 'session_token', 'aws_session_token');
  return accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey, sessionToken } : undefined;
}
