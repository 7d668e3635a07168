import { fail } from '../../../../src/errors/app-error.ts';
import type { App } from '../../../app.ts';
import { type LicenseKey, readLicenseKey } from './license-key.ts';
import { type Purpose, readStatement, type Statement } from './statement.ts';

/** Longest text that is looked at as a statement. */
const LONGEST_STATEMENT = 16 * 1024;

const WHY: Readonly<Record<string, string>> = {
  ERR_JWT_EXPIRED: 'it has expired',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'its signature is wrong',
  ERR_JOSE_ALG_NOT_ALLOWED: 'its algorithm does not go with the key of this instance',
};

/** Verifies signed statements: JWTs (RFC 7519) for this instance, by the key of its configuration. */
export class StatementVerifier {
  private readonly key: LicenseKey | undefined;

  /** Errors: invalid_argument naming a setting. */
  constructor(
    private readonly app: Pick<App, 'config' | 'clock'>,
    private readonly instanceId: string,
  ) {
    this.key = readLicenseKey(app.config);
  }

  /** Errors: not_configured without a key, bad_statement saying why. */
  async verify(text: string, purpose: Purpose): Promise<Statement> {
    const { key } = this;
    if (!key)
      throw fail('not_configured', {
        message:
          'This instance takes no statements of a licence: license.public_key and license.secret are not set.',
      });
    const now = this.app.clock.now();
    const claims = await this.claimsOf(text, key, now);
    const read = readStatement(claims, purpose, now);
    if ('problem' in read) throw fail('bad_statement', { why: read.problem });
    return read.statement;
  }

  private async claimsOf(text: string, { key, algorithms }: LicenseKey, now: number) {
    if (text === '' || text.length > LONGEST_STATEMENT) throw fail('bad_statement', { why: 'it is no JWT' });
    const { jwtVerify } = await import('jose');
    try {
      const options = { audience: this.instanceId, requiredClaims: ['exp', 'iat', 'jti'] };
      const verified = await jwtVerify(text, key, {
        ...options,
        algorithms: [...algorithms],
        currentDate: new Date(now),
      });
      return verified.payload;
    } catch (error) {
      throw fail('bad_statement', { why: reasonOf(error) });
    }
  }
}

function reasonOf(error: unknown): string {
  const { code = '', claim } = error as { code?: string; claim?: string };
  if (code === 'ERR_JWT_CLAIM_VALIDATION_FAILED')
    return claim === 'aud' ? 'it is for another instance' : `its claim ${claim} is missing or wrong`;
  return WHY[code] ?? 'it is no JWT';
}
