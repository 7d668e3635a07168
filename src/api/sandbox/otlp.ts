import { endpoint, type Group } from '../endpoint.ts';
import { model, object, stringMap, t } from '../schema.ts';

/** Where metrics are exported to. The values of `headers` are masked in answers. */
export const OtlpSettings = model('OtlpSettings', {
  endpoint: t.String(),
  headers: stringMap(),
  extra_labels: stringMap(),
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
    unbuilt: true,
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
    unbuilt: true,
  }),
  TestOtlpSettings: endpoint({
    ...here,
    id: 'TestOtlpSettings',
    method: 'POST',
    path: '/v1/settings/otlp/test',
    summary: 'Send a test span to the configured endpoint',
    response: object('TestOtlpSettingsResponse', { success: t.Boolean(), message: t.String() }),
    access: 'admin',
    unbuilt: true,
  }),
} satisfies Group;
