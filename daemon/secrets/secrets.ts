import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fail } from '../../src/errors/app-error.ts';

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const VERSION = 'v1';

/** Encrypts what must be read again: provider keys, webhook secrets, credentials of tool servers. */
export class Secrets {
  constructor(private readonly key: Buffer) {
    if (key.length !== KEY_BYTES)
      throw fail('failed_precondition', { message: 'The instance key must be 32 bytes.' });
  }

  /** A key of 32 bytes for one purpose (HKDF-SHA256, RFC 5869): it tells nothing of this key or of others. */
  derive(purpose: string): Buffer {
    return Buffer.from(hkdfSync('sha256', this.key, '', `svc ${purpose}`, KEY_BYTES));
  }

  /**
   * AES-256-GCM with a random nonce. The tenant and the row are authenticated with it, so that a
   * sealed value cannot be moved to another row. Form: `v1:<base64 of nonce, ciphertext, tag>`.
   */
  seal(tenant: string, rowId: string, plain: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.key, nonce).setAAD(bindTo(tenant, rowId));
    const sealed = Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${VERSION}:${sealed.toString('base64')}`;
  }

  /** The plain text of a sealed value. Errors: internal when it was altered, moved or sealed by another key. */
  open(tenant: string, rowId: string, sealed: string): string {
    const [version, text] = sealed.split(':');
    if (version !== VERSION || !text) throw fail('internal');
    const bytes = Buffer.from(text, 'base64');
    const decipher = createDecipheriv('aes-256-gcm', this.key, bytes.subarray(0, NONCE_BYTES))
      .setAAD(bindTo(tenant, rowId))
      .setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      return (
        decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
      );
    } catch {
      throw fail('internal');
    }
  }
}

/** The instance's key: SVC_INSTANCE_KEY (base64), else `<data-dir>/instance.key`, made at the first start (0600). */
export function loadInstanceKey(dataDir: string, env: Readonly<Record<string, string | undefined>>): Buffer {
  if (env.SVC_INSTANCE_KEY) return Buffer.from(env.SVC_INSTANCE_KEY, 'base64');
  const path = join(dataDir, 'instance.key');
  if (!existsSync(path))
    writeFileSync(path, randomBytes(KEY_BYTES).toString('base64'), { mode: 0o600, flag: 'wx' });
  return Buffer.from(readFileSync(path, 'utf8').trim(), 'base64');
}

function bindTo(tenant: string, rowId: string): Buffer {
  return Buffer.from(`${tenant}\n${rowId}`);
}
