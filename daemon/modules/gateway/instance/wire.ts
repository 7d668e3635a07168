import type { Output } from '../../../../src/api/endpoint.ts';
import type { gatewayInstance } from '../../../../src/api/gateway/instance.ts';
import { rfc3339 } from '../../../../src/kit/time.ts';
import type { Licensing, Outcome } from './service.ts';
import type { LimitType } from './tables.ts';

type Status = Output<typeof gatewayInstance.GetGatewayInstanceStatus>;

/** What there is today; a licence may name more. */
const FEATURES = ['GATEWAY', 'SANDBOXES'];

const LIMIT_TYPES = {
  requests: 'USAGE_LIMITS_TYPE_REQUESTS',
  executions: 'USAGE_LIMITS_TYPE_EXECUTIONS',
  storage: 'USAGE_LIMITS_TYPE_STORAGE',
  bandwidth: 'USAGE_LIMITS_TYPE_BANDWIDTH',
  requests_per_second: 'USAGE_LIMITS_TYPE_RPS',
  requests_per_minute: 'USAGE_LIMITS_TYPE_RPM',
  requests_per_hour: 'USAGE_LIMITS_TYPE_RPH',
} as const satisfies Record<LimitType, string>;

const PLANS = {
  free: 'LICENSE_TYPE_FREE',
  basic: 'LICENSE_TYPE_BASIC',
  pro: 'LICENSE_TYPE_PRO',
  enterprise: 'LICENSE_TYPE_ENTERPRISE',
} as const;

const STANDINGS = {
  active: 'LICENSE_STATUS_ACTIVE',
  inactive: 'LICENSE_STATUS_INACTIVE',
  expired: 'LICENSE_STATUS_EXPIRED',
  suspended: 'LICENSE_STATUS_SUSPENDED',
  cancelled: 'LICENSE_STATUS_CANCELLED',
} as const;

/** The state of the instance. `tenant` is left out for callers that are not of it. */
export function toStatus({ instanceId, row, standing }: Licensing, tenant: string | undefined): Status {
  const activated = standing === 'active';
  return {
    status: activated ? 'active' : 'inactive',
    activated,
    instanceId,
    activatedAt: rfc3339(row?.activatedAt),
    licenseState: {
      instanceId,
      tenantId: tenant,
      planTier: PLANS[row?.planTier ?? 'free'],
      features: featuresOf(row?.features ?? {}),
      usageLimits: limitsOf(row?.usageLimits ?? {}),
      expiresAt: rfc3339(row?.expiresAt),
      refreshIntervalSecs: row?.refreshIntervalSecs ?? 0,
      gracePeriodSecs: row?.gracePeriodSecs ?? 0,
      status: STANDINGS[standing],
    },
    message: activated
      ? `The licence is ${row?.planTier}.`
      : row
        ? `The licence is ${standing}. Nothing is locked.`
        : 'This instance has no licence and needs none. Nothing is locked.',
  };
}

/** What an activation has led to. */
export function toActivation(
  { instanceId, row, standing }: Licensing,
  tenantId: string,
): Output<typeof gatewayInstance.ActivateGatewayInstance> {
  return {
    status: standing === 'active' ? 'active' : 'inactive',
    instanceId,
    tenantId,
    planTier: row?.planTier ?? 'free',
    activatedAt: rfc3339(row?.activatedAt),
    expiresAt: rfc3339(row?.expiresAt),
  };
}

/** What a callback is told. */
export function toMessage(outcome: Outcome): string {
  return MESSAGES[outcome];
}

const MESSAGES: Readonly<Record<Outcome, string>> = {
  applied: 'Applied.',
  repeated: 'This was delivered before; nothing has changed.',
  superseded: 'A newer statement is in force; the plan has not changed.',
};

/** Everything is on; what a licence says of further features is passed on. */
function featuresOf(licensed: Readonly<Record<string, boolean>>) {
  const names = new Set([...FEATURES, ...Object.keys(licensed)]);
  return [...names].map((name) => ({ name, enabled: FEATURES.includes(name) || licensed[name] === true }));
}

/** -1 is no limit. */
function limitsOf(limits: Readonly<Partial<Record<LimitType, number>>>) {
  return Object.entries(LIMIT_TYPES).map(([name, type]) => ({
    type,
    value: String(limits[name as LimitType] ?? -1),
  }));
}
