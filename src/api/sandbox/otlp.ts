import { endpoint, type Group } from '../endpoint.ts';
import { model, object, t } from '../schema.ts';

/** Where metrics are exported to. The values of `headers` are masked in answers. */
export const OtlpSettings = model('OtlpSettings', {
  endpoint: t.String({
    description: 'Base address of an OTLP/HTTP receiver; /v1/metrics and /v1/traces are added to it.',
  }),
  headers: t.Record(t.String(), t.String(), {
    description: 'Sent along. A value that comes back masked stays as it is.',
  }),
  extra_labels: t.Record(t.String(), t.String(), {
    description: 'Added to the resource of everything that is sent.',
  }),
  enabled: t.Boolean(),
});

const here = { spec: 'guide', tag: 'Metric export' } as const;

/** Where metrics are exported to, by OTLP. */
export const otlpSettings = {
  GetOtlpSettings: endpoint({
    ...here,
    id: 'GetOtlpSettings',
    method: 'GET',
    path: '/v1/settings/otlp',
    summary: 'Get where metrics are exported to',
    response: OtlpSettings,
    access: 'viewer',
  }),
  UpdateOtlpSettings: endpoint({
    ...here,
    id: 'UpdateOtlpSettings',
    method: 'PUT',
    path: '/v1/settings/otlp',
    summary: 'Set where metrics are exported to',
    body: OtlpSettings,
    response: OtlpSettings,
    access: 'admin',
  }),
  TestOtlpSettings: endpoint({
    ...here,
    id: 'TestOtlpSettings',
    method: 'POST',
    path: '/v1/settings/otlp/test',
    summary: 'Send a test span to the configured endpoint',
    response: object('TestOtlpSettingsResponse', { success: t.Boolean(), message: t.String() }),
    access: 'admin',
  }),
} satisfies Group;
