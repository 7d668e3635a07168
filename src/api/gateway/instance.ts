import { endpoint, type Group } from '../endpoint.ts';
import { enumeration, ids, int32, int64, model, oneOf, t, timestamp } from '../schema.ts';

/** How a licence stands. */
export const LicenseStatus = enumeration('LicenseStatus', [
  'LICENSE_STATUS_UNSPECIFIED',
  'LICENSE_STATUS_ACTIVE',
  'LICENSE_STATUS_INACTIVE',
  'LICENSE_STATUS_EXPIRED',
  'LICENSE_STATUS_SUSPENDED',
  'LICENSE_STATUS_CANCELLED',
]);

/** The tier of a licence. */
export const LicenseType = enumeration('LicenseType', [
  'LICENSE_TYPE_UNSPECIFIED',
  'LICENSE_TYPE_FREE',
  'LICENSE_TYPE_BASIC',
  'LICENSE_TYPE_PRO',
  'LICENSE_TYPE_ENTERPRISE',
]);

/** What a limit counts. */
export const UsageLimitsType = enumeration('UsageLimitsType', [
  'USAGE_LIMITS_TYPE_UNSPECIFIED',
  'USAGE_LIMITS_TYPE_REQUESTS',
  'USAGE_LIMITS_TYPE_EXECUTIONS',
  'USAGE_LIMITS_TYPE_STORAGE',
  'USAGE_LIMITS_TYPE_BANDWIDTH',
  'USAGE_LIMITS_TYPE_RPS',
  'USAGE_LIMITS_TYPE_RPM',
  'USAGE_LIMITS_TYPE_RPH',
]);

/** A feature, and whether it is on. */
export const FeatureFlag = model('FeatureFlag', { name: t.String(), enabled: t.Boolean() });

/** A limit; -1 is none. */
export const UsageLimits = model('UsageLimits', { type: UsageLimitsType, value: int64() });

/** What the licence of the instance allows. */
export const LicenseState = model('LicenseState', {
  instanceId: t.String(),
  tenantId: t.String(),
  planTier: LicenseType,
  features: t.Array(FeatureFlag),
  usageLimits: t.Array(UsageLimits),
  expiresAt: timestamp(),
  refreshIntervalSecs: int32(),
  gracePeriodSecs: int32(),
  status: LicenseStatus,
});

const here = { spec: 'gateway', tag: 'Gateway instance' } as const;

/** What the instance is, and whether it is activated. */
export const gatewayInstance = {
  GetGateway: endpoint({
    ...here,
    id: 'GetGateway',
    method: 'GET',
    path: '/v1/gateway/{id}',
    summary: 'Get a gateway',
    params: ids('id'),
    response: model('GetGatewayResponse', { id: t.String(), name: t.String(), description: t.String() }),
    access: 'viewer',
  }),
  GetGatewayInstanceStatus: endpoint({
    ...here,
    id: 'GetGatewayInstanceStatus',
    method: 'GET',
    path: '/v1/gateway/instance/status',
    summary: 'Tell whether the instance is activated',
    response: model('GetGatewayInstanceStatusResponse', {
      status: oneOf('active', 'inactive'),
      activated: t.Boolean(),
      instanceId: t.String(),
      activatedAt: timestamp(),
      licenseState: LicenseState,
      message: t.String(),
    }),
    access: 'viewer',
  }),
  ActivateGatewayInstance: endpoint({
    ...here,
    id: 'ActivateGatewayInstance',
    method: 'POST',
    path: '/v1/gateway/instance/activate',
    summary: 'Activate the instance',
    body: model('ActivateGatewayInstanceRequest', {
      activationToken: t.String(),
      deviceFingerprintHash: t.String(),
      instanceId: t.String(),
    }),
    response: model('ActivateGatewayInstanceResponse', {
      status: t.String(),
      instanceId: t.String(),
      tenantId: t.String(),
      planTier: t.String(),
      activatedAt: timestamp(),
      expiresAt: timestamp(),
    }),
    access: 'owner',
  }),
  ActivationCallback: endpoint({
    ...here,
    id: 'ActivationCallback',
    method: 'POST',
    path: '/v1/gateway/activation-callback',
    summary: 'Hear from the control plane that the instance was paid for',
    body: model('ActivationCallbackRequest', { signedPayload: t.String(), callbackSecret: t.String() }),
    response: model('ActivationCallbackResponse', {
      success: t.Boolean(),
      instanceId: t.String(),
      planTier: t.String(),
      message: t.String(),
    }),
    access: 'public',
    bodyLimit: 64 * 1024,
  }),
  SubscriptionStatusCallback: endpoint({
    ...here,
    id: 'SubscriptionStatusCallback',
    method: 'POST',
    path: '/v1/gateway/subscription-status-callback',
    summary: 'Hear from billing that the subscription has changed',
    body: model('SubscriptionStatusCallbackRequest', { signedPayload: t.String() }),
    response: model('SubscriptionStatusCallbackResponse', { success: t.Boolean(), message: t.String() }),
    access: 'public',
    bodyLimit: 64 * 1024,
  }),
} satisfies Group;
