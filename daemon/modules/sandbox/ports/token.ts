import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Secrets } from '../../../secrets/secrets.ts';
import type { SandboxPort } from './tables.ts';

const TOKEN_BYTES = 20;
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const VERSION = 'v1';
const MAX_LENGTH = 512;

/** What a signed token says: one port of one sandbox, until a time. */
interface Claims {
  readonly sandbox: string;
  readonly port: number;
  readonly tenant: string;
  /** Seconds since 1970. */
  readonly expires: number;
  /** The address that it was made for: another one, made after that was taken away, is not meant. */
  readonly nonce: string;
  readonly key: string;
}

/** Makes and checks what lets people open previews. */
export class PreviewTokens {
  private readonly addressKey: Buffer;
  private readonly linkKey: Buffer;
  /** Names the key, so that a token of another key is told from a forged one. */
  private readonly keyId: string;

  constructor(secrets: Secrets) {
    this.addressKey = secrets.derive('preview address');
    this.linkKey = secrets.derive('preview link');
    this.keyId = createHash('sha256').update(this.linkKey).digest('hex').slice(0, 8);
  }

  /** The token in the address of a port: 160 bits that cannot be guessed, in letters that a host may have. */
  address(nonce: string): string {
    return base32(createHmac('sha256', this.addressKey).update(nonce).digest().subarray(0, TOKEN_BYTES));
  }

  /** What a token is found by. */
  hash(token: string): string {
    return createHash('sha256').update(token).digest('hex');
  }

  /** A token that opens one port until a time in milliseconds (HMAC-SHA256 over its claims). */
  sign({ sandboxId, port, tenant, nonce }: SandboxPort, expiresAt: number): string {
    const claims: Claims = {
      sandbox: sandboxId,
      port,
      tenant,
      expires: Math.floor(expiresAt / 1000),
      nonce,
      key: this.keyId,
    };
    const payload = Buffer.from(JSON.stringify(claims)).toString('base64url');
    return `${VERSION}.${payload}.${this.mac(payload).toString('base64url')}`;
  }

  /** When a token for this port runs out, in milliseconds; undefined when it is not good for it now. */
  check(token: string, row: SandboxPort, now: number): number | undefined {
    const claims = this.verified(token);
    if (!claims) return undefined;
    const isForIt =
      claims.sandbox === row.sandboxId &&
      claims.port === row.port &&
      claims.tenant === row.tenant &&
      claims.nonce === row.nonce &&
      claims.key === this.keyId;
    const expiresAt = claims.expires * 1000;
    return isForIt && expiresAt > now ? expiresAt : undefined;
  }

  private verified(token: string): Claims | undefined {
    if (token.length > MAX_LENGTH) return undefined;
    const [version, payload, given, ...rest] = token.split('.');
    if (version !== VERSION || !payload || !given || rest.length > 0) return undefined;
    const [wanted, presented] = [this.mac(payload), Buffer.from(given, 'base64url')];
    if (wanted.length !== presented.length || !timingSafeEqual(wanted, presented)) return undefined;
    return JSON.parse(Buffer.from(payload, 'base64url').toString()) as Claims;
  }

  private mac(payload: string): Buffer {
    return createHmac('sha256', this.linkKey).update(`${VERSION}.${payload}`).digest();
  }
}

function base32(bytes: Uint8Array): string {
  let bits = 0;
  let value = 0;
  let text = '';
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += BASE32[(value >> bits) & 31];
    }
    value &= (1 << bits) - 1;
  }
  return text;
}
