import { createHash, createHmac } from 'node:crypto';
import type { FakeCall } from './fake-provider.ts';

/** Whose signatures are good. */
export interface AwsAccess {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly region: string;
  readonly service: string;
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
const escaped = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

/** What is wrong with the signature of a call (AWS Signature Version 4: Create a signed request); undefined when nothing is. */
export function signatureFault(call: FakeCall, access: AwsAccess): string | undefined {
  const found =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      call.headers.get('authorization') ?? '',
    );
  if (!found) return 'Missing Authentication Token';
  const [, id, day = '', region, service, signed = '', signature] = found;
  if (id !== access.accessKeyId) return 'The security token included in the request is invalid.';
  if (region !== access.region || service !== access.service)
    return 'Credential should be scoped to a valid region.';
  if ((call.headers.get('x-amz-security-token') ?? undefined) !== access.sessionToken)
    return 'The security token included in the request is invalid.';
  const names = signed.split(';');
  if (!names.includes('host') || !names.includes('x-amz-date')) return 'host and x-amz-date must be signed';
  const time = call.headers.get('x-amz-date') ?? '';
  const at = Date.parse(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (!(Math.abs(Date.now() - at) < 300_000) || !time.startsWith(day)) return 'Signature expired';
  const canonical = canonicalRequest(call, names);
  const scope = `${day}/${region}/${service}/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n');
  const key = ['aws4_request'].reduce(
    hmac,
    hmac(hmac(hmac(`AWS4${access.secretAccessKey}`, day), region), service),
  );
  return hmac(key, toSign).toString('hex') === signature
    ? undefined
    : 'The request signature we calculated does not match the signature you provided.';
}

function canonicalRequest({ method, url, headers, text }: FakeCall, names: readonly string[]): string {
  const path = url.pathname.split('/').map(escaped).join('/');
  const query = [...url.searchParams]
    .map(([name, value]) => `${escaped(name)}=${escaped(value)}`)
    .toSorted()
    .join('&');
  const listed = names
    .map((name) => `${name}:${(headers.get(name) ?? '').trim().replace(/\s+/g, ' ')}\n`)
    .join('');
  return [method, path, query, listed, names.join(';'), sha256(text)].join('\n');
}
