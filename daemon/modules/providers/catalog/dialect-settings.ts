import type { Dialect } from '../account.ts';

/** A setting that a dialect understands. */
export interface SettingRule {
  /** What it is, for people. */
  readonly about: string;
  /** Its whole value. */
  readonly pattern: RegExp;
  /** What the pattern asks for, after "must be". */
  readonly shape: string;
  readonly default?: string;
  /** Without it no call can be made. */
  readonly isRequired?: true;
}

const PLACE = {
  pattern: /^[a-z0-9][a-z0-9-]{0,62}$/,
  shape: 'lower-case letters, digits and dashes',
} as const;
const ID = { pattern: /^[\w.:-]{1,128}$/, shape: 'letters, digits and the characters ._:-' } as const;
const DATE = {
  pattern: /^\d{4}-\d{2}-\d{2}(-preview)?$/,
  shape: 'a date such as 2024-10-21, or 2024-10-01-preview',
} as const;
const LIST = {
  pattern: /^[\w.-]{1,64}(,[\w.-]{1,64}){0,31}$/,
  shape: 'names with commas between them',
} as const;

/** The settings of each dialect by name. A name that ends with `.*` stands for every name that begins so. */
export const DIALECT_SETTINGS: Readonly<Record<Dialect, Readonly<Record<string, SettingRule>>>> = {
  openai: {
    organization: { about: 'Organization that calls are billed to', ...ID },
    project: { about: 'Project that calls are billed to', ...ID },
  },
  azure: {
    api_version: { about: 'Version of the API by deployments; the newest API without it', ...DATE },
    'deployment.*': { about: 'Deployment of a model, when its name is another', ...ID },
  },
  anthropic: {
    version: { about: 'Version of the API', ...DATE, default: '2023-06-01' },
    beta: { about: 'Beta features that every call asks for', ...LIST },
  },
  gemini: {},
  vertex: {
    project: { about: 'Project of the models', ...PLACE, isRequired: true },
    location: { about: 'Region of the models, or global', ...PLACE, default: 'global' },
  },
  bedrock: { region: { about: 'Region of the models', ...PLACE, isRequired: true } },
  cohere: {},
  voyage: {},
  jina: {},
  local: {},
};

/** The rule of a setting; undefined when the dialect has no such setting. */
export function ruleOf(dialect: Dialect, name: string): SettingRule | undefined {
  const rules = DIALECT_SETTINGS[dialect];
  if (Object.hasOwn(rules, name)) return rules[name];
  const stem = name.indexOf('.');
  return stem > 0 && stem < name.length - 1 ? rules[`${name.slice(0, stem)}.*`] : undefined;
}
