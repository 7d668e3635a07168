import type { JWTPayload } from 'jose';
import { DAY_MS, SECOND_MS } from '../../../../src/kit/time.ts';
import type { LicenseStanding, LimitType, PlanTier } from './tables.ts';

/** What a signed statement is for. One that is made for one purpose is refused for the others. */
export type Purpose = 'activation' | 'activation_callback' | 'subscription_status';

/** What the issuer of licences says about this instance, after its signature was found good. Times are milliseconds. */
export interface Statement {
  readonly purpose: Purpose;
  readonly jti: string;
  readonly issuedAt: number;
  /** Until when the statement is taken; not the end of the licence. */
  readonly goodUntil: number;
  readonly planTier: PlanTier;
  readonly status: LicenseStanding;
  readonly features: Readonly<Record<string, boolean>>;
  readonly usageLimits: Readonly<Partial<Record<LimitType, number>>>;
  /** The end of the licence; null when it has none. */
  readonly expiresAt: number | null;
  readonly refreshIntervalSecs: number;
  readonly gracePeriodSecs: number;
  /** The device that it is for; empty when it is for any. */
  readonly deviceFingerprintHash: string;
}

/** The longest that a statement may be good for, so that those which were used need not be remembered for ever. */
export const LONGEST_LIFE_MS = 31 * DAY_MS;
/** How far the issuer's clock may be ahead. */
const SKEW_MS = 60 * SECOND_MS;
/** The end of the year 9999, the last that RFC 3339 can write. */
const LAST_SECOND = 253_402_300_799;
/** What fits the 32 bits that a duration travels in. */
const LONGEST_SECONDS = 2 ** 31 - 1;
const MOST_ENTRIES = 100;
const LONGEST_TEXT = 200;

const PLANS: readonly PlanTier[] = ['free', 'basic', 'pro', 'enterprise'];
const STANDINGS: readonly LicenseStanding[] = ['active', 'inactive', 'expired', 'suspended', 'cancelled'];
const LIMITS: readonly LimitType[] = [
  'requests',
  'executions',
  'storage',
  'bandwidth',
  'requests_per_second',
  'requests_per_minute',
  'requests_per_hour',
];

/** The statement in verified claims, or what is wrong with them. */
export function readStatement(
  claims: JWTPayload,
  purpose: Purpose,
  now: number,
): { readonly statement: Statement } | { readonly problem: string } {
  const { jti, iat = Number.NaN, exp = Number.NaN } = claims;
  const [issuedAt, goodUntil] = [iat * SECOND_MS, exp * SECOND_MS];
  if (claims.purpose !== purpose) return { problem: `its purpose is not ${purpose}` };
  if (typeof jti !== 'string' || jti === '' || jti.length > LONGEST_TEXT) return { problem: 'it has no jti' };
  if (!(issuedAt <= now + SKEW_MS)) return { problem: 'it was issued in the future' };
  if (!(goodUntil - issuedAt <= LONGEST_LIFE_MS)) return { problem: 'it is good for more than 31 days' };
  const terms = readTerms(claims);
  if ('problem' in terms) return terms;
  return { statement: { purpose, jti, issuedAt, goodUntil, ...terms } };
}

type Terms = Omit<Statement, 'purpose' | 'jti' | 'issuedAt' | 'goodUntil'>;

function readTerms(claims: JWTPayload): Terms | { readonly problem: string } {
  const planTier = PLANS.find((plan) => plan === claims.plan_tier);
  const status = STANDINGS.find((standing) => standing === (claims.status ?? 'active'));
  const features = entries(
    claims.features,
    () => true,
    (value) => typeof value === 'boolean',
  );
  const usageLimits = entries(claims.usage_limits, (name) => LIMITS.includes(name as LimitType), isLimit);
  const expiresAt = claims.expires_at === undefined ? null : seconds(claims.expires_at, LAST_SECOND);
  const refresh = seconds(claims.refresh_interval_secs ?? 0, LONGEST_SECONDS);
  const grace = seconds(claims.grace_period_secs ?? 0, LONGEST_SECONDS);
  const device = claims.device_fingerprint_hash ?? '';
  if (!planTier) return { problem: `its plan_tier is none of ${PLANS.join(', ')}` };
  if (!status) return { problem: `its status is none of ${STANDINGS.join(', ')}` };
  if (!features) return { problem: 'its features are no flags' };
  if (!usageLimits) return { problem: 'its usage_limits are no known limits' };
  if (expiresAt === undefined || refresh === undefined || grace === undefined)
    return { problem: 'expires_at, refresh_interval_secs and grace_period_secs must be seconds' };
  if (typeof device !== 'string' || device.length > LONGEST_TEXT)
    return { problem: 'its device_fingerprint_hash is no text' };
  return {
    planTier,
    status,
    features: features as Terms['features'],
    usageLimits: usageLimits as Terms['usageLimits'],
    expiresAt: expiresAt === null ? null : expiresAt * SECOND_MS,
    refreshIntervalSecs: refresh,
    gracePeriodSecs: grace,
    deviceFingerprintHash: device,
  };
}

function entries(
  value: unknown,
  isName: (name: string) => boolean,
  isValue: (value: unknown) => boolean,
): Readonly<Record<string, unknown>> | undefined {
  if (value === undefined) return {};
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const all = Object.entries(value);
  const isGood = all.every(([name, inner]) => name.length <= LONGEST_TEXT && isName(name) && isValue(inner));
  return isGood && all.length <= MOST_ENTRIES ? Object.fromEntries(all) : undefined;
}

/** -1 is no limit. */
function isLimit(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= -1;
}

function seconds(value: unknown, most: number): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= most
    ? value
    : undefined;
}
