import { runtimeConfig } from '../../../src/api/config/runtime.ts';
import { configValidation } from '../../../src/api/config/validation.ts';
import { invalid } from '../../../src/errors/app-error.ts';
import { implement, type Route } from '../../http/route.ts';
import type { ConfigChecks } from './checks.ts';
import { SCHEMA_NAMES, schemaOf } from './schemas.ts';
import { type FullConfig, sectionOf } from './sections.ts';
import type { SettingsService } from './service.ts';
import { toConfig, toHistoryEntry, toResult, toSection, toStatus } from './wire.ts';

/** The operations on the runtime configuration. */
export function settingsRoutes(
  service: SettingsService,
  checks: ConfigChecks,
  defaults: FullConfig,
): Route[] {
  return [
    ...implement(runtimeConfig, {
      GetRuntimeConfig: ({ caller }) => toConfig(service.get(caller.tenant)),
      UpdateRuntimeConfig: ({ caller, body }) => toConfig(service.replace(caller, body.config)),
      GetRuntimeConfigSection: ({ caller, params }) =>
        toSection(service.section(caller.tenant, sectionOf(params.section))),
      UpdateRuntimeConfigSection: ({ caller, params, body }) =>
        toSection(service.replaceSection(caller, sectionOf(params.section), body)),
      ResetRuntimeConfigSection: ({ caller, params }) =>
        toSection(service.reset(caller, sectionOf(params.section))),
    }),
    ...implement(configValidation, {
      ValidateYAML: ({ caller, body }) =>
        toResult(checks.checkYaml(caller.tenant, required('yamlConfig', body.yamlConfig))),
      ValidateMap: ({ caller, body }) =>
        toResult(checks.checkMap(caller.tenant, required('config', body.config))),
      GetValidationStatus: ({ caller, query }) => toStatus(checks.status(caller.tenant, query.section)),
      GetValidationHistory: ({ caller, query }) => ({
        entries: checks.history(caller.tenant, query).map(toHistoryEntry),
      }),
      ListSchemas: () => ({ schemaNames: [...SCHEMA_NAMES] }),
      GetSchema: ({ params }) => ({ name: params.name, schema: schemaOf(params.name, defaults) }),
    }),
  ];
}

function required<T>(field: string, value: T | undefined): T {
  if (value === undefined) throw invalid({ field, description: 'is required' });
  return value;
}
