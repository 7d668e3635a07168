import { createHash, timingSafeEqual } from 'node:crypto';
import { fail, invalid } from '../../../../src/errors/app-error.ts';
import type { Config } from '../../../config/config.ts';

const HASHED = /^sha256:([0-9a-f]{64})$/i;

/** The secret that the control plane sends with its callback. Only the hash of it stays in memory. */
export class CallbackSecret {
  private readonly hash: Buffer | undefined;

  /** Errors: invalid_argument when `license.callback_secret` is a hash of a wrong form. */
  constructor(config: Config) {
    const text = config.get('license.callback_secret');
    const hashed = HASHED.exec(text)?.[1];
    if (text.startsWith('sha256:') && hashed === undefined)
      throw invalid({
        field: 'license.callback_secret',
        description: 'must have 64 hex digits after sha256:',
      });
    this.hash = hashed ? Buffer.from(hashed, 'hex') : text === '' ? undefined : digest(text);
  }

  /** Errors: not_configured when there is none, bad_statement when another one was sent. */
  require(sent: string | undefined): void {
    if (!this.hash) throw fail('not_configured', { message: 'license.callback_secret is not set.' });
    if (!timingSafeEqual(this.hash, digest(sent ?? '')))
      throw fail('bad_statement', { why: 'the callbackSecret is missing or wrong' });
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
