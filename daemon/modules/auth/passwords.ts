import { MAX_PASSWORD } from './inputs.ts';

/** Cost of one hash: 19 MiB and two passes (OWASP, Password Storage). */
const ARGON2ID = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const;

/** Hashes and checks passwords by argon2id. */
export class Passwords {
  private decoy: Promise<string> | undefined;

  hash(password: string): Promise<string> {
    return Bun.password.hash(password, ARGON2ID);
  }

  /** Whether a password is right. Takes as long without a hash to check against, so that timing names no account. */
  async verify(password: string, hash: string | null | undefined): Promise<boolean> {
    this.decoy ??= this.hash(crypto.randomUUID());
    const decoy = await this.decoy;
    const matches = await Bun.password.verify(password.slice(0, MAX_PASSWORD), hash ?? decoy);
    return matches && typeof hash === 'string' && password.length <= MAX_PASSWORD;
  }
}
