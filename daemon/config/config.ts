import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { invalid } from '../../src/errors/app-error.ts';
import { flattenYaml, readYaml } from './file.ts';
import { parseSetting } from './parse.ts';
import { envNames, SETTINGS, type Setting, type SettingKey, type SettingValue } from './settings.ts';

/** Where a value came from, strongest first. */
export type Origin = 'flag' | 'env' | 'file' | 'database' | 'default';

/** A setting with the value it has and where that came from. `detail` names the variable or file. */
export interface Resolved {
  readonly key: SettingKey;
  readonly value: unknown;
  readonly origin: Origin;
  readonly detail: string;
}

/** What the values are taken from. Keys of `flags` and `database` are setting keys. */
export interface Sources {
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Path of svc.yaml; `<data.dir>/svc.yaml` when absent. */
  readonly file?: string;
}

/** The settings of an instance: flag > environment > svc.yaml > database > default. */
export class Config {
  private database: Readonly<Record<string, unknown>> = {};
  private readonly file: Readonly<Record<string, unknown>>;
  readonly filePath: string;

  constructor(private readonly sources: Sources) {
    this.file = {};
    this.filePath = sources.file ?? join(this.dataDir, 'svc.yaml');
    this.file = flattenYaml(readYaml(this.filePath, sources.file !== undefined));
    this.checkNames();
    for (const key of Object.keys(SETTINGS)) this.resolve(key as SettingKey);
  }

  /** The value of a setting. Durations are milliseconds. */
  get<K extends SettingKey>(key: K): SettingValue<K> {
    return this.resolve(key).value as SettingValue<K>;
  }

  /** The data directory as an absolute path. */
  get dataDir(): string {
    const dir = this.get('data.dir');
    return resolve(dir.startsWith('~/') ? join(homedir(), dir.slice(2)) : dir);
  }

  /** A setting with its origin. Errors: invalid_argument naming the key and where the bad value stands. */
  resolve(key: SettingKey): Resolved {
    const candidate = this.candidates(key).find(({ raw }) => raw !== undefined);
    if (!candidate) return { key, value: SETTINGS[key].default, origin: 'default', detail: '' };
    const parsed = parseSetting(SETTINGS[key] as Setting, candidate.raw);
    if ('problem' in parsed)
      throw invalid({ field: key, description: `${parsed.problem} (from ${candidate.detail})` });
    return { key, value: parsed.value, origin: candidate.origin, detail: candidate.detail };
  }

  /** A variable of the environment that is no setting, such as the keys that other programs' SDKs read; undefined when empty. */
  variable(name: string): string | undefined {
    return this.sources.env?.[name]?.trim() || undefined;
  }

  /** Every setting with its origin, in the order of the schema. */
  list(): Resolved[] {
    return Object.keys(SETTINGS).map((key) => this.resolve(key as SettingKey));
  }

  /** Takes the values that the instance's database holds. */
  loadDatabaseValues(values: Readonly<Record<string, unknown>>): void {
    this.database = values;
  }

  private candidates(key: SettingKey): Array<{ raw: unknown; origin: Origin; detail: string }> {
    const env = this.sources.env ?? {};
    return [
      { raw: this.sources.flags?.[key], origin: 'flag', detail: 'the command line' },
      ...envNames(key).map((name) => ({ raw: env[name] || undefined, origin: 'env' as const, detail: name })),
      { raw: this.file?.[key], origin: 'file', detail: this.filePath },
      { raw: this.database[key], origin: 'database', detail: 'the database' },
    ];
  }

  private checkNames(): void {
    const unknown = Object.keys(this.file).find((key) => !(key in SETTINGS));
    if (unknown) throw invalid({ field: unknown, description: `no such setting (in ${this.filePath})` });
  }
}
