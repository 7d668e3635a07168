import { CONFIG_SECTIONS } from '../../../src/api/config/runtime.ts';
import { fail, invalid } from '../../../src/errors/app-error.ts';
import type { App } from '../../app.ts';
import type { Caller } from '../../http/route.ts';
import { type CheckedSection, checkSection } from './check.ts';
import { checkRow } from './findings.ts';
import { readYamlText } from './reading.ts';
import type { Finding } from './rules.ts';
import { type Given, KEY_OF, type SectionKey, type SectionName } from './sections.ts';
import type { ConfigInForce, SectionInForce, SettingsSnapshot } from './snapshot.ts';
import type { SettingsStore } from './store.ts';

/** What replaces sections. A version that is not the current one refuses the change; 0 and absent overwrite. */
export type NewConfig = { readonly version?: number | undefined } & {
  readonly [K in SectionKey]?: Given | undefined;
};

/** What replaces one section: as an object, as YAML, or as both when they say the same. */
export interface NewSection {
  readonly config?: Given | undefined;
  readonly yamlContent?: string | undefined;
  readonly version?: number | undefined;
}

/** Decides on changes of the runtime configuration. A section that is given is replaced as a whole. */
export class SettingsService {
  constructor(
    private readonly app: Pick<App, 'db' | 'clock' | 'audit'>,
    private readonly store: SettingsStore,
    private readonly snapshot: SettingsSnapshot,
  ) {}

  get(tenant: string): ConfigInForce {
    return this.snapshot.get(tenant);
  }

  section(tenant: string, section: SectionName): SectionInForce {
    return this.snapshot.get(tenant).sections[section];
  }

  /** Replaces the sections that are given; the others stay. Errors: invalid_argument, stale_version. */
  replace(caller: Caller, config: NewConfig | undefined): ConfigInForce {
    if (!config) throw invalid({ field: 'config', description: 'is required' });
    this.requireVersion('The configuration', config.version, this.get(caller.tenant).version);
    const checked = CONFIG_SECTIONS.flatMap((section) => {
      const key = KEY_OF[section];
      const given = config[key];
      return given ? [checkSection(section, given, this.snapshot.defaults, `config.${key}`)] : [];
    });
    if (checked.length > 0) this.write(caller, 'config.update', checked);
    return this.get(caller.tenant);
  }

  /** Replaces a section. Errors: invalid_argument, stale_version. */
  replaceSection(caller: Caller, section: SectionName, given: NewSection): SectionInForce {
    const { version } = this.section(caller.tenant, section);
    this.requireVersion(`The section ${section}`, given.version, version);
    this.write(caller, 'config.update', [this.checkedSection(section, given)]);
    return this.section(caller.tenant, section);
  }

  /** Puts a section back to the instance's defaults. */
  reset(caller: Caller, section: SectionName): SectionInForce {
    this.write(caller, 'config.reset', [checkSection(section, {}, this.snapshot.defaults, section)]);
    return this.section(caller.tenant, section);
  }

  private checkedSection(section: SectionName, { config, yamlContent }: NewSection): CheckedSection {
    const fromObject = config && checkSection(section, config, this.snapshot.defaults, 'config');
    if (!yamlContent) {
      if (!fromObject) throw invalid({ field: 'config', description: 'is required, or yamlContent' });
      return fromObject;
    }
    const read = readYamlText(yamlContent);
    if ('problem' in read) throw invalid({ field: 'yamlContent', description: read.problem });
    const fromYaml = checkSection(section, read.value ?? {}, this.snapshot.defaults, 'yamlContent');
    // Clients made from the schema send an empty object for what nobody set.
    if (!fromObject || Object.keys(config ?? {}).length === 0) return fromYaml;
    requireSame(fromObject, fromYaml);
    return fromYaml;
  }

  private requireVersion(what: string, given: number | undefined, current: number): void {
    if (given && given !== current) throw fail('stale_version', { what, given, current });
  }

  /** Writes the sections, the check and the audit row in one transaction. */
  private write(caller: Caller, action: string, checked: readonly CheckedSection[]): void {
    refuseErrors(checked.flatMap(({ errors }) => errors));
    const { tenant, actor } = caller;
    const { version, sections } = this.get(tenant);
    const updatedAt = this.app.clock.now();
    this.app.db.transaction(() => {
      for (const { section, given } of checked)
        this.store.putSection(tenant, { section, given, version: sections[section].version + 1, updatedAt });
      this.store.putConfig(tenant, { version: version + 1, updatedAt });
      this.store.addCheck(tenant, checkRow(checked, updatedAt));
      const details = { version: version + 1, fields: fieldsOf(checked) };
      const target = checked.map(({ section }) => section).join(',');
      this.app.audit.record({ tenant, actor, action, target, details });
    });
    this.snapshot.refresh(tenant);
  }
}

function refuseErrors(errors: readonly Finding[]): void {
  const [first, ...others] = errors.map(({ field, message }) => ({ field, description: message }));
  if (first) throw invalid(first, ...others);
}

function requireSame(one: CheckedSection, other: CheckedSection): void {
  refuseErrors([...one.errors, ...other.errors]);
  const names = new Set([...Object.keys(one.given), ...Object.keys(other.given)]);
  const different = [...names].find((name) => !Bun.deepEquals(one.given[name], other.given[name]));
  if (different)
    throw invalid({
      field: 'yamlContent',
      description: `says something else of ${different} than config does`,
    });
}

function fieldsOf(checked: readonly CheckedSection[]): readonly string[] {
  return checked.flatMap(({ section, given }) => Object.keys(given).map((name) => `${section}.${name}`));
}
