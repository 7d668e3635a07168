import { endpoint, type Group } from '../endpoint.ts';
import { enumeration, fields, ids, int32, model, struct, t, timestamp } from '../schema.ts';
import { CONFIG_BODY_LIMIT } from './runtime.ts';

/** How bad a finding is. */
export const ValidationSeverity = enumeration('ValidationSeverity', [
  'VALIDATION_SEVERITY_UNSPECIFIED',
  'VALIDATION_SEVERITY_INFO',
  'VALIDATION_SEVERITY_WARNING',
  'VALIDATION_SEVERITY_ERROR',
  'VALIDATION_SEVERITY_CRITICAL',
]);

/** How a check ended. */
export const ValidationState = enumeration('ValidationState', [
  'VALIDATION_STATE_UNSPECIFIED',
  'VALIDATION_STATE_VALID',
  'VALIDATION_STATE_INVALID',
  'VALIDATION_STATE_WARNING',
  'VALIDATION_STATE_PARTIAL',
  'VALIDATION_STATE_PENDING',
  'VALIDATION_STATE_ERROR',
]);

/** Something that makes a configuration invalid. */
export const ValidationError = model('ValidationError', {
  field: t.String(),
  message: t.String(),
  code: t.String(),
  severity: ValidationSeverity,
});

/** Something that should be looked at. */
export const ValidationWarning = model('ValidationWarning', {
  field: t.String(),
  message: t.String(),
  code: t.String(),
});

/** How the last check ended. */
export const ValidationStatus = model('ValidationStatus', {
  state: ValidationState,
  message: t.String(),
  errorCount: int32(),
  warningCount: int32(),
  lastValidated: timestamp(),
  validatedSections: t.Array(t.String()),
  failedSections: t.Array(t.String()),
});

/** What a check found. */
export const ValidationResult = model('ValidationResult', {
  valid: t.Boolean(),
  errors: t.Array(ValidationError),
  warnings: t.Array(ValidationWarning),
  status: ValidationStatus,
  validatedAt: timestamp(),
});

/** A past check. */
export const ValidationHistoryEntry = model('ValidationHistoryEntry', {
  timestamp: timestamp(),
  state: ValidationState,
  errorCount: int32(),
  warningCount: int32(),
  configHash: t.String(),
  sections: t.Array(t.String()),
});

/** Past checks, newest first. */
export const ValidationHistory = model('ValidationHistory', { entries: t.Array(ValidationHistoryEntry) });

/** A schema that configurations are checked by. */
export const SchemaResponse = model('SchemaResponse', { name: t.String(), schema: struct() });

const here = { spec: 'config', tag: 'Configuration checks' } as const;

/** Checking configurations, and the schemas that they are checked by. */
export const configValidation = {
  ValidateYAML: endpoint({
    ...here,
    id: 'ValidateYAML',
    method: 'POST',
    path: '/api/v1/config/validate',
    summary: 'Check a configuration given as YAML',
    body: model('ValidateYAMLRequest', { yamlConfig: t.String() }),
    bodyLimit: CONFIG_BODY_LIMIT,
    response: ValidationResult,
    access: 'viewer',
  }),
  ValidateMap: endpoint({
    ...here,
    id: 'ValidateMap',
    method: 'POST',
    path: '/api/v1/config/validate-map',
    summary: 'Check a configuration given as an object',
    body: model('ValidateMapRequest', { config: struct() }),
    bodyLimit: CONFIG_BODY_LIMIT,
    response: ValidationResult,
    access: 'viewer',
  }),
  GetValidationStatus: endpoint({
    ...here,
    id: 'GetValidationStatus',
    method: 'GET',
    path: '/api/v1/config/validation-status',
    summary: 'Tell whether the configuration in force is valid',
    query: fields({ section: t.String() }),
    response: ValidationStatus,
    access: 'viewer',
  }),
  GetValidationHistory: endpoint({
    ...here,
    id: 'GetValidationHistory',
    method: 'GET',
    path: '/api/v1/config/validation-history',
    summary: 'List past checks',
    query: fields({ limit: int32(), section: t.String() }),
    response: ValidationHistory,
    access: 'viewer',
  }),
  ListSchemas: endpoint({
    ...here,
    id: 'ListSchemas',
    method: 'GET',
    path: '/api/v1/config/schemas',
    summary: 'List the schemas',
    response: model('ListSchemasResponse', { schemaNames: t.Array(t.String()) }),
    access: 'viewer',
  }),
  GetSchema: endpoint({
    ...here,
    id: 'GetSchema',
    method: 'GET',
    path: '/api/v1/config/schemas/{name}',
    summary: 'Get a schema',
    params: ids('name'),
    response: SchemaResponse,
    access: 'viewer',
  }),
} satisfies Group;
