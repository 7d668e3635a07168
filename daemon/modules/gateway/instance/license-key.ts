import { createPublicKey, type KeyObject } from 'node:crypto';
import { invalid } from '../../../../src/errors/app-error.ts';
import type { Config } from '../../../config/config.ts';

/** What statements are verified with, and the algorithms that go with it and no others (RFC 8725, 3.1). */
export interface LicenseKey {
  readonly key: KeyObject | Uint8Array;
  readonly algorithms: readonly string[];
}

const SHORTEST_SECRET = 32;
const CURVES: Readonly<Record<string, string>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};

/**
 * The key of the configuration: `license.public_key`, else `license.secret`; undefined when there is neither.
 * Errors: invalid_argument naming the setting.
 */
export function readLicenseKey(config: Config): LicenseKey | undefined {
  const text = config.get('license.public_key').trim();
  if (text !== '') return publicKey(text);
  const secret = config.get('license.secret');
  if (secret === '') return undefined;
  if (secret.length < SHORTEST_SECRET)
    throw invalid({
      field: 'license.secret',
      description: `must have at least ${SHORTEST_SECRET} characters`,
    });
  return { key: new TextEncoder().encode(secret), algorithms: ['HS256'] };
}

function publicKey(text: string): LicenseKey {
  const key = parse(text);
  const algorithms = key ? algorithmsOf(key) : [];
  if (!key || algorithms.length === 0) {
    const description = 'must be an Ed25519, EC or RSA public key as PEM (SPKI) or JWK';
    throw invalid({ field: 'license.public_key', description });
  }
  return { key, algorithms };
}

function parse(text: string): KeyObject | undefined {
  try {
    return text.startsWith('{')
      ? createPublicKey({ key: JSON.parse(text), format: 'jwk' })
      : createPublicKey(text.replaceAll('\\n', '\n'));
  } catch {
    return undefined;
  }
}

function algorithmsOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): readonly string[] {
  if (asymmetricKeyType === 'ed25519') return ['EdDSA', 'Ed25519'];
  if (asymmetricKeyType === 'rsa') return ['RS256', 'PS256'];
  const curve = asymmetricKeyType === 'ec' ? CURVES[asymmetricKeyDetails?.namedCurve ?? ''] : undefined;
  return curve ? [curve] : [];
}
