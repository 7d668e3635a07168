import { createHash, createPublicKey } from 'node:crypto';
import { invalid } from '../../../../src/errors/app-error.ts';

/** A public key that was read. */
export interface PublicKey {
  /** Its type in the words of the protocol: `ssh-ed25519`. */
  readonly type: string;
  readonly fingerprint: string;
  /** What its owner has written behind it. */
  readonly comment: string;
}

const TYPES = ['ssh-ed25519', 'ecdsa-sha2-nistp256', 'ecdsa-sha2-nistp384', 'ecdsa-sha2-nistp521', 'ssh-rsa'];
const LEAST_RSA_BITS = 2048;
const MOST_RSA_BITS = 16_384;
const MOST_LENGTH = 16 * 1024;
const LINE = /^([\w@.-]+)[ \t]+([A-Za-z0-9+/]+={0,2})(?:[ \t]+(.*))?$/;

/**
 * Reads a key as it stands in an `id_*.pub` file. Errors: invalid_argument on anything but one good line of a type
 * that is safe today.
 */
export async function readPublicKey(text: string | undefined): Promise<PublicKey> {
  const line = (text ?? '').trim();
  if (line === '') throw bad('is required: the line of an id_ed25519.pub');
  if (/PRIVATE KEY/.test(line)) throw bad('is a private key. Keep it, and send the .pub file');
  if (line.length > MOST_LENGTH || /[\r\n\0]/.test(line)) throw bad('must be one line');
  const [, type = '', base64 = '', comment = ''] = LINE.exec(line) ?? [];
  if (!TYPES.includes(type))
    throw bad(type === '' ? 'is not a public key' : `has the type ${type}; use one of ${TYPES.join(', ')}`);
  const blob = Buffer.from(base64, 'base64');
  await check(type, `${type} ${base64}`, blob);
  return { type, fingerprint: fingerprintOf(blob), comment: comment.trim().slice(0, 100) };
}

/** `SHA256:` and the hash of a key on the wire, as ssh-keygen -l prints it. */
export function fingerprintOf(blob: Uint8Array): string {
  return `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`;
}

async function check(type: string, line: string, blob: Buffer): Promise<void> {
  const { utils } = await import('ssh2');
  const key = utils.parseKey(line);
  if (key instanceof Error || key.type !== type || !key.getPublicSSH().equals(blob))
    throw bad('is malformed');
  const bits = modulusBits(key.getPublicPEM());
  if (type !== 'ssh-rsa') return;
  if (bits < LEAST_RSA_BITS) throw bad(`has ${bits} bits; an RSA key needs ${LEAST_RSA_BITS}`);
  if (bits > MOST_RSA_BITS) throw bad(`has ${bits} bits; at most ${MOST_RSA_BITS} are taken`);
}

/** The length of an RSA key; 0 for others. The engine refuses points that are on no curve. */
function modulusBits(pem: string): number {
  try {
    const { n } = createPublicKey(pem).export({ format: 'jwk' });
    return n === undefined ? 0 : bitLength(Buffer.from(n, 'base64url'));
  } catch {
    throw bad('is malformed');
  }
}

function bitLength(bytes: Buffer): number {
  const first = bytes.findIndex((byte) => byte !== 0);
  return first < 0 ? 0 : (bytes.length - first) * 8 - Math.clz32(bytes[first] ?? 0) + 24;
}

function bad(description: string) {
  return invalid({ field: 'publicKey', description });
}
