import { CONFIG_SECTIONS } from '../../../src/api/config/runtime.ts';
import { invalid } from '../../../src/errors/app-error.ts';
import { pageOf } from '../../../src/kit/page.ts';
import type { App } from '../../app.ts';
import { type CheckedSection, checkSection } from './check.ts';
import { checkRow, stateOf } from './findings.ts';
import { readConfig, readYamlText } from './reading.ts';
import type { Finding } from './rules.ts';
import { type SectionName, sectionOf } from './sections.ts';
import type { SectionInForce, SettingsSnapshot } from './snapshot.ts';
import type { SettingsStore } from './store.ts';
import type { CheckRow, CheckState } from './tables.ts';

/** What a check has found. */
export interface CheckResult {
  readonly state: CheckState;
  readonly errors: readonly Finding[];
  readonly warnings: readonly Finding[];
  readonly sections: readonly SectionName[];
  readonly failed: readonly SectionName[];
  readonly checkedAt: number;
}

/** Looks at configurations without applying them, and remembers how that went. */
export class ConfigChecks {
  constructor(
    private readonly app: Pick<App, 'db' | 'clock'>,
    private readonly store: SettingsStore,
    private readonly snapshot: SettingsSnapshot,
  ) {}

  /** Looks at YAML: sections alone, or as they stand in svc.yaml. */
  checkYaml(tenant: string, text: string): CheckResult {
    const read = readYamlText(text);
    if ('value' in read) return this.check(tenant, read.value, 'yamlConfig', text);
    const checkedAt = this.app.clock.now();
    const errors = [{ field: 'yamlConfig', message: read.problem, code: 'yaml_syntax' }];
    this.remember(tenant, checkRow([], checkedAt, { errors: 1, text, state: 'error' }));
    return { state: 'error', errors, warnings: [], sections: [], failed: [], checkedAt };
  }

  /** Looks at an object of sections. Errors: invalid_argument when it is nested too deeply to be written. */
  checkMap(tenant: string, config: Readonly<Record<string, unknown>>): CheckResult {
    return this.check(tenant, config, 'config', jsonOf(config));
  }

  /** How the configuration in force stands; `section` alone when one is named. Errors: section_not_found. */
  status(tenant: string, section: string | undefined): CheckResult {
    const { sections, checkedAt } = this.snapshot.get(tenant);
    const asked: readonly SectionInForce[] = section
      ? [sections[sectionOf(section)]]
      : CONFIG_SECTIONS.map((name) => sections[name]);
    return resultOf(asked, { errors: [], warnings: [] }, checkedAt);
  }

  /** Past checks, newest first. Errors: section_not_found. */
  history(
    tenant: string,
    query: { readonly limit?: number; readonly section?: string },
  ): readonly CheckRow[] {
    const wanted = query.section ? sectionOf(query.section) : undefined;
    const rows = this.store.checks(tenant).filter(({ sections }) => !wanted || sections.includes(wanted));
    return rows.slice(0, pageOf(query).limit);
  }

  private check(tenant: string, value: unknown, root: string, text: string): CheckResult {
    const read = readConfig(value, root);
    const checked = read.sections.map(({ section, path, value: given }) =>
      checkSection(section, given, this.snapshot.defaults, path),
    );
    const checkedAt = this.app.clock.now();
    const counts = { errors: read.errors.length, warnings: read.warnings.length, text };
    this.remember(tenant, checkRow(checked, checkedAt, counts));
    return resultOf(checked, read, checkedAt);
  }

  private remember(tenant: string, row: Parameters<SettingsStore['addCheck']>[1]): void {
    this.app.db.transaction(() => this.store.addCheck(tenant, row));
  }
}

/** JSON can be read that is too deep to be written again. */
function jsonOf(config: Readonly<Record<string, unknown>>): string {
  try {
    return JSON.stringify(config);
  } catch {
    throw invalid({ field: 'config', description: 'is nested too deeply' });
  }
}

function resultOf(
  checked: ReadonlyArray<Pick<CheckedSection, 'section' | 'errors' | 'warnings'>>,
  besides: { readonly errors: readonly Finding[]; readonly warnings: readonly Finding[] },
  checkedAt: number,
): CheckResult {
  const errors = [...besides.errors, ...checked.flatMap((one) => one.errors)];
  const warnings = [...besides.warnings, ...checked.flatMap((one) => one.warnings)];
  return {
    state: stateOf(errors.length, warnings.length),
    errors,
    warnings,
    sections: checked.map(({ section }) => section),
    failed: checked.filter((one) => one.errors.length > 0).map(({ section }) => section),
    checkedAt,
  };
}
