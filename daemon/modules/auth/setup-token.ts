import { timingSafeEqual } from 'node:crypto';
import { newSecret } from '../../../src/kit/id.ts';
import type { Log } from '../../log/log.ts';
import { hashSecret } from './secret-hash.ts';

/** The header that carries the setup token. */
export const SETUP_TOKEN_HEADER = 'x-svc-setup-token';

/**
 * Shows that whoever registers first from elsewhere can read the log of the instance. A new one at each
 * start; it exists in memory and, once it was needed, in the log.
 */
export class SetupToken {
  private readonly token = newSecret();
  private isAnnounced = false;

  constructor(private readonly log: Log) {}

  /** Says the token in the log, once. */
  announce(): void {
    if (this.isAnnounced) return;
    this.isAnnounced = true;
    this.log.announce(`Nobody has registered yet. Setup token for the first registration: ${this.token}`);
  }

  matches(given: string | null): boolean {
    if (!given) return false;
    const [own, other] = [this.token, given].map((text) => Buffer.from(hashSecret(text)));
    return own !== undefined && other !== undefined && timingSafeEqual(own, other);
  }
}
