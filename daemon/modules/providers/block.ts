import { invalid } from '../../../src/errors/app-error.ts';
import { checkKeyName, checkKeyText, checkModels, checkWeight, MOST_KEYS } from './inputs.ts';
import { checkName } from './names.ts';

/** A key as YAML has it. */
export interface KeyBlock {
  /** Where it stands, for errors. */
  readonly field: string;
  readonly name: string;
  /** The key itself, its masked form, or `env:NAME`. */
  readonly text: string;
  readonly weight: number;
  readonly isActive: boolean;
}

/** A provider as svc.yaml, providers.yaml and the YAML of the API have it. */
export interface ProviderBlock {
  readonly name: string;
  /** Empty when it was not given. */
  readonly dialect: string;
  readonly baseUrl: string;
  readonly models: readonly string[];
  readonly settings: Readonly<Record<string, string>>;
  readonly keys: readonly KeyBlock[];
}

type Mapping = Readonly<Record<string, unknown>>;

const FIELDS = ['base_url', 'api_key', 'keys', 'models', 'settings', 'dialect'] as const;
const KEY_FIELDS = ['name', 'api_key', 'weight', 'active'] as const;

/** Reads the mapping of one provider. Errors: invalid_argument naming the field as `providers.<name>.<field>`. */
export function readBlock(name: string, given: unknown): ProviderBlock {
  const field = `providers.${name}`;
  checkName(name, field);
  const block = mapping(given, field, FIELDS);
  return {
    name,
    dialect: readText(block.dialect, `${field}.dialect`),
    baseUrl: readText(block.base_url, `${field}.base_url`),
    models: checkModels(block.models ?? [], `${field}.models`),
    settings: readSettings(block.settings, `${field}.settings`),
    keys: readKeys(block, field),
  };
}

/** How the fields of a place are called in a block. */
export function placeFieldsOf(name: string) {
  const field = `providers.${name}`;
  return { dialect: `${field}.dialect`, baseUrl: `${field}.base_url`, settings: `${field}.settings` };
}

function readKeys({ api_key: one, keys: several }: Mapping, field: string): KeyBlock[] {
  if (one !== undefined && several !== undefined)
    throw invalid({ field: `${field}.api_key`, description: 'does not go with keys' });
  if (one !== undefined) {
    const text = keyText(one, `${field}.api_key`);
    return text === ''
      ? []
      : [{ field: `${field}.api_key`, name: 'default', text, weight: 1, isActive: true }];
  }
  if (several === undefined || several === null) return [];
  if (!Array.isArray(several) || several.length > MOST_KEYS)
    throw invalid({ field: `${field}.keys`, description: `must be a list of at most ${MOST_KEYS} keys` });
  const keys = several.map((item: unknown, index) => readKey(item, index, `${field}.keys.${index}`));
  const twice = keys.findIndex(({ name }, index) => keys.findIndex((key) => key.name === name) !== index);
  if (twice >= 0)
    throw invalid({ field: `${field}.keys.${twice}.name`, description: 'another key has this name' });
  return keys;
}

function readKey(given: unknown, index: number, field: string): KeyBlock {
  const key = mapping(given, field, KEY_FIELDS);
  const { name = index === 0 ? 'default' : `key ${index + 1}`, weight = 1, active = true } = key;
  const text = keyText(key.api_key, `${field}.api_key`);
  if (text === '') throw invalid({ field: `${field}.api_key`, description: 'is needed' });
  if (typeof name !== 'string') throw invalid({ field: `${field}.name`, description: 'must be text' });
  if (typeof active !== 'boolean')
    throw invalid({ field: `${field}.active`, description: 'must be true or false' });
  checkKeyName(name, `${field}.name`);
  return {
    field: `${field}.api_key`,
    name,
    text,
    weight: checkWeight(weight, `${field}.weight`),
    isActive: active,
  };
}

function keyText(given: unknown, field: string): string {
  const text = readText(given, field);
  if (text !== '') checkKeyText(text, field);
  return text;
}

function readSettings(given: unknown, field: string): Record<string, string> {
  const entries = Object.entries(mapping(given ?? {}, field));
  return Object.fromEntries(
    entries.map(([name, value]) => {
      if (typeof value !== 'string' && typeof value !== 'number')
        throw invalid({ field: `${field}.${name}`, description: 'must be text' });
      return [name, String(value)];
    }),
  );
}

function mapping(given: unknown, field: string, fields?: readonly string[]): Mapping {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw invalid({
      field,
      description: fields ? `must be a mapping with ${fields.join(', ')}` : 'must be a mapping',
    });
  const unknown = fields && Object.keys(given).find((name) => !fields.includes(name));
  if (unknown !== undefined)
    throw invalid({
      field: `${field}.${unknown}`,
      description: `there is no such field; the fields are ${fields?.join(', ')}`,
    });
  return given as Mapping;
}

function readText(given: unknown, field: string): string {
  if (given === undefined || given === null) return '';
  if (typeof given !== 'string') throw invalid({ field, description: 'must be text' });
  return given.trim();
}
