import { CONFIG_SECTIONS } from '../../../src/api/config/runtime.ts';
import type { Log } from '../../log/log.ts';
import { type CheckedSection, checkSection } from './check.ts';
import type { Finding } from './rules.ts';
import type { RuntimeConfigValue, RuntimeSettings } from './runtime.ts';
import { type FullConfig, KEY_OF, type SectionKey, type SectionName } from './sections.ts';
import type { SettingsStore } from './store.ts';
import type { SectionRow } from './tables.ts';
import { runtimeValue } from './value.ts';

/** A section as it is in force. */
export interface SectionInForce {
  readonly section: SectionName;
  readonly config: FullConfig[SectionKey];
  /** The fields that the tenant has given; the others follow the instance. */
  readonly given: readonly string[];
  /** Grows with every change; 1 when there was none. */
  readonly version: number;
  readonly updatedAt: number;
  /** Why what is stored is not in force, and the defaults are. */
  readonly errors: readonly Finding[];
  readonly warnings: readonly Finding[];
}

/** The configuration of a tenant as it is in force. */
export interface ConfigInForce {
  readonly config: FullConfig;
  readonly sections: Readonly<Record<SectionName, SectionInForce>>;
  /** Grows with every change; 1 when there was none. */
  readonly version: number;
  /** When it was changed last; when the instance was started, if never. */
  readonly updatedAt: number;
  /** When it was last looked at. */
  readonly checkedAt: number;
  readonly value: RuntimeConfigValue;
}

/** The configurations of all tenants in memory: read once at the start, and again for a tenant after its changes. */
export class SettingsSnapshot implements RuntimeSettings {
  private readonly changed = new Map<string, ConfigInForce>();
  private readonly unchanged: ConfigInForce;
  private readonly listeners = new Set<(tenant: string) => void>();

  constructor(
    private readonly store: SettingsStore,
    readonly defaults: FullConfig,
    private readonly app: { readonly log: Log; readonly clock: { now(): number } },
  ) {
    const now = app.clock.now();
    this.unchanged = inForce({ version: 1, updatedAt: now }, [], defaults, now);
    for (const tenant of store.tenants()) this.read(tenant);
  }

  of(tenant: string): RuntimeConfigValue {
    return this.get(tenant).value;
  }

  onChange(listener: (tenant: string) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** What is in force for tenants that have changed nothing: the instance's configuration. */
  get instance(): RuntimeConfigValue {
    return this.unchanged.value;
  }

  /** What is in force for those that have changed something. */
  ofChanged(): IteratorObject<RuntimeConfigValue> {
    return this.changed.values().map(({ value }) => value);
  }

  /** Everything that is known of a tenant's configuration. */
  get(tenant: string): ConfigInForce {
    return this.changed.get(tenant) ?? this.unchanged;
  }

  /** Takes up what was written for a tenant, and tells the listeners. */
  refresh(tenant: string): void {
    this.read(tenant);
    for (const listener of this.listeners) {
      try {
        listener(tenant);
      } catch (error) {
        this.app.log.error('a change of the configuration was not taken up everywhere', { tenant, error });
      }
    }
  }

  private read(tenant: string): void {
    const row = this.store.config(tenant);
    if (!row) return;
    const found = inForce(row, this.store.sections(tenant), this.defaults, this.app.clock.now());
    this.changed.set(tenant, found);
    for (const { section, errors } of Object.values(found.sections))
      if (errors.length > 0)
        this.app.log.warn('a section of the configuration is not valid any more; its defaults hold', {
          tenant,
          section,
          problems: errors.map(({ field, message }) => `${field}: ${message}`),
        });
  }
}

function inForce(
  { version, updatedAt }: { version: number; updatedAt: number },
  rows: readonly SectionRow[],
  defaults: FullConfig,
  checkedAt: number,
): ConfigInForce {
  const sections = CONFIG_SECTIONS.map((section) => {
    const row = rows.find((one) => one.section === section);
    const checked = checkSection(section, row?.given ?? {}, defaults, section);
    return sectionInForce(checked, row ?? { version: 1, updatedAt }, defaults);
  });
  const config = Object.fromEntries(sections.map((one) => [KEY_OF[one.section], one.config]));
  const full = Object.freeze(config) as unknown as FullConfig;
  return {
    config: full,
    sections: Object.fromEntries(sections.map((one) => [one.section, one])) as ConfigInForce['sections'],
    version,
    updatedAt,
    checkedAt,
    value: runtimeValue(full, version, defaults),
  };
}

/** Stored sections were valid when they came; a newer svc or other defaults may see that otherwise. */
function sectionInForce(
  { section, given, errors, warnings }: CheckedSection,
  { version, updatedAt }: { version: number; updatedAt: number },
  defaults: FullConfig,
): SectionInForce {
  const own = errors.length > 0 ? {} : given;
  const config = { ...defaults[KEY_OF[section]], ...own } as FullConfig[SectionKey];
  return { section, config, given: Object.keys(own), version, updatedAt, errors, warnings };
}
