import { createHash } from 'node:crypto';
import { AppError, fail, invalid } from '../../../../src/errors/app-error.ts';
import { SECOND_MS } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import type { Caller } from '../../../http/route.ts';
import type { CallbackSecret } from './callback-secret.ts';
import type { Statement } from './statement.ts';
import type { LicenseStore } from './store.ts';
import type { LicenseRow, LicenseStanding } from './tables.ts';
import type { StatementVerifier } from './verifier.ts';

/** What became of a statement. */
export type Outcome =
  | 'applied'
  /** It was delivered before; nothing has changed. */
  | 'repeated'
  /** A newer one is in force; nothing of the plan has changed. */
  | 'superseded';

/** The licence as it stands now; without a row when none was ever heard of. */
export interface Licensing {
  readonly instanceId: string;
  readonly row: LicenseRow | undefined;
  /** What holds now, with the end of the licence and its grace looked at. */
  readonly standing: LicenseStanding;
}

/** What an owner sends to activate the instance. */
export interface Activation {
  readonly activationToken?: string | undefined;
  readonly deviceFingerprintHash?: string | undefined;
  readonly instanceId?: string | undefined;
}

/** Decides on the licence of the instance. An instance without one has everything: nothing here locks anything. */
export class InstanceService {
  constructor(
    private readonly app: Pick<App, 'db' | 'clock' | 'audit'>,
    private readonly store: LicenseStore,
    private readonly verifier: StatementVerifier,
    private readonly callbackSecret: CallbackSecret,
    private readonly instance: { readonly id: string; readonly tenant: string },
  ) {}

  /** Errors: not_found when the id is not that of this instance. */
  requireGateway(id: string): string {
    if (id !== this.instance.id && id !== 'default') throw fail('not_found', { what: 'gateway', id });
    return this.instance.id;
  }

  licensing(): Licensing {
    const row = this.store.license(this.instance.tenant);
    return { instanceId: this.instance.id, row, standing: standingOf(row, this.app.clock.now()) };
  }

  /** Whether a caller belongs to the organization that the instance itself belongs to. */
  isOwn(caller: Caller): boolean {
    return caller.tenant === this.instance.tenant;
  }

  /**
   * Activates the instance with a token, once. Errors: instance_only (an owner of another organization), not_configured,
   * invalid_argument, failed_precondition (used before, or older than what is in force).
   */
  async activate(caller: Caller, given: Activation): Promise<Licensing> {
    if (!this.isOwn(caller)) throw fail('instance_only');
    const { activationToken: token = '', instanceId } = given;
    if (token === '') throw invalid({ field: 'activationToken', description: 'is required' });
    if (instanceId && instanceId !== this.instance.id)
      throw invalid({
        field: 'instanceId',
        description: `is not this instance, which is ${this.instance.id}`,
      });
    const statement = await this.verifier.verify(token, 'activation').catch(badToken);
    requireDevice(statement, given.deviceFingerprintHash ?? '');
    if (statement.expiresAt !== null && statement.expiresAt <= this.app.clock.now())
      throw invalid({ field: 'activationToken', description: 'is of a licence that has ended' });
    this.take(statement, token, caller.actor, { isFresh: true, device: given.deviceFingerprintHash });
    return this.licensing();
  }

  /** Hears that the instance was paid for. Errors: not_configured, bad_statement. Redelivery changes nothing. */
  async activatedElsewhere(signed: string, secret: string | undefined): Promise<Outcome> {
    this.callbackSecret.require(secret);
    const statement = await this.verifier.verify(signed, 'activation_callback');
    return this.take(statement, signed, 'control-plane');
  }

  /** Hears that the subscription has changed. Errors: not_configured, bad_statement. The newest statement holds. */
  async subscriptionChanged(signed: string): Promise<Outcome> {
    const statement = await this.verifier.verify(signed, 'subscription_status');
    return this.take(statement, signed, 'control-plane');
  }

  /** Takes a statement once, in one transaction with what it changes. `isFresh` refuses what changes nothing. */
  private take(
    statement: Statement,
    text: string,
    actor: string,
    { isFresh = false, device }: { isFresh?: boolean; device?: string | undefined } = {},
  ): Outcome {
    const { tenant } = this.instance;
    const now = this.app.clock.now();
    const [jtiHash, statementHash] = [sha256(statement.jti), sha256(text)];
    return this.app.db.transaction(() => {
      const known = this.store.statement(tenant, jtiHash);
      if (known) return repeated(known.statementHash === statementHash, isFresh);
      const old = this.store.license(tenant);
      const outcome = old && statement.issuedAt < old.issuedAt ? 'superseded' : 'applied';
      if (isFresh && outcome === 'superseded')
        throw fail('failed_precondition', {
          message: 'The activation token is older than the licence in force.',
        });
      const { purpose: kind, goodUntil: expiresAt } = statement;
      this.store.addStatement(tenant, { jtiHash, statementHash, kind, receivedAt: now, expiresAt });
      this.store.putLicense(tenant, merged(old, statement, { now, outcome, device }));
      const details = { plan: statement.planTier, status: statement.status, outcome };
      this.app.audit.record({ tenant, actor, action: `license.${kind}`, target: this.instance.id, details });
      return outcome;
    });
  }
}

/** The licence after a statement. An activation that comes late still activates; the newer plan stays. */
function merged(
  old: LicenseRow | undefined,
  statement: Statement,
  { now, outcome, device }: { now: number; outcome: Outcome; device: string | undefined },
): Omit<LicenseRow, 'tenant'> {
  const isActivation = statement.purpose !== 'subscription_status';
  const activatedAt = old?.activatedAt ?? (isActivation ? now : null);
  if (old && outcome === 'superseded') return { ...old, activatedAt, updatedAt: now };
  const { planTier, status, features, usageLimits, expiresAt, issuedAt } = statement;
  const { refreshIntervalSecs, gracePeriodSecs } = statement;
  const deviceFingerprintHash =
    device || statement.deviceFingerprintHash || (old?.deviceFingerprintHash ?? '');
  const terms = { planTier, status, features, usageLimits, expiresAt, refreshIntervalSecs, gracePeriodSecs };
  return { ...terms, activatedAt, deviceFingerprintHash, issuedAt, updatedAt: now };
}

function standingOf(row: LicenseRow | undefined, now: number): LicenseStanding {
  if (!row || (row.activatedAt === null && row.status === 'active')) return 'inactive';
  const ends =
    row.expiresAt === null ? Number.POSITIVE_INFINITY : row.expiresAt + row.gracePeriodSecs * SECOND_MS;
  return row.status === 'active' && now > ends ? 'expired' : row.status;
}

function repeated(isSame: boolean, isFresh: boolean): Outcome {
  if (isFresh) throw fail('failed_precondition', { message: 'The activation token was used before.' });
  if (!isSame) throw fail('bad_statement', { why: 'its jti was used by another statement' });
  return 'repeated';
}

function requireDevice({ deviceFingerprintHash: wanted }: Statement, given: string): void {
  if (wanted !== '' && wanted !== given)
    throw invalid({
      field: 'deviceFingerprintHash',
      description: 'is not that of the device the token is for',
    });
}

/** The caller is known here, so a bad token is a bad field and not a missing credential. */
function badToken(error: unknown): never {
  if (error instanceof AppError && error.code === 'bad_statement')
    throw invalid({ field: 'activationToken', description: `is not accepted: ${error.data.why}` });
  throw error;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
