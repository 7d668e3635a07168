import type { runtimeConfig } from '../../../src/api/config/runtime.ts';
import type { configValidation } from '../../../src/api/config/validation.ts';
import type { Output } from '../../../src/api/endpoint.ts';
import { rfc3339 } from '../../../src/kit/time.ts';
import type { CheckResult } from './checks.ts';
import { snake } from './sections.ts';
import type { ConfigInForce, SectionInForce } from './snapshot.ts';
import type { CheckRow, CheckState } from './tables.ts';

const STATES = {
  valid: 'VALIDATION_STATE_VALID',
  warning: 'VALIDATION_STATE_WARNING',
  invalid: 'VALIDATION_STATE_INVALID',
  error: 'VALIDATION_STATE_ERROR',
} as const satisfies Record<CheckState, string>;

const WORDS: Readonly<Record<CheckState, string>> = {
  valid: 'The configuration is valid.',
  warning: 'The configuration is valid, with warnings.',
  invalid: 'The configuration is not valid.',
  error: 'The configuration cannot be read.',
};

/** The whole configuration in force. */
export function toConfig({
  config,
  version,
  updatedAt,
}: ConfigInForce): Output<typeof runtimeConfig.GetRuntimeConfig> {
  return { ...config, version, updatedAt: rfc3339(updatedAt) };
}

/** A section in force, its YAML with names as in svc.yaml. */
export function toSection({
  section,
  config,
  given,
  version,
  updatedAt,
}: SectionInForce): Output<typeof runtimeConfig.GetRuntimeConfigSection> {
  const renamed = Object.fromEntries(Object.entries(config).map(([name, value]) => [snake(name), value]));
  return {
    name: section,
    config: { ...config },
    yamlContent: `${Bun.YAML.stringify(renamed, null, 2)}\n`,
    version,
    updatedAt: rfc3339(updatedAt),
    given: [...given],
  };
}

/** What a check has found. */
export function toResult(result: CheckResult): Output<typeof configValidation.ValidateYAML> {
  const severity = result.state === 'error' ? 'VALIDATION_SEVERITY_CRITICAL' : 'VALIDATION_SEVERITY_ERROR';
  return {
    valid: result.errors.length === 0,
    errors: result.errors.map((error) => ({ ...error, severity }) as const),
    warnings: [...result.warnings],
    status: toStatus(result),
    validatedAt: rfc3339(result.checkedAt),
  };
}

/** How a check ended. */
export function toStatus(result: CheckResult): Output<typeof configValidation.GetValidationStatus> {
  const { state, errors, warnings, sections, failed, checkedAt } = result;
  return {
    state: STATES[state],
    message: WORDS[state],
    errorCount: errors.length,
    warningCount: warnings.length,
    lastValidated: rfc3339(checkedAt),
    validatedSections: [...sections],
    failedSections: [...failed],
  };
}

/** A past check. */
export function toHistoryEntry({
  checkedAt,
  state,
  errorCount,
  warningCount,
  configHash,
  sections,
}: CheckRow) {
  return {
    timestamp: rfc3339(checkedAt),
    state: STATES[state],
    errorCount,
    warningCount,
    configHash,
    sections: [...sections],
  };
}
