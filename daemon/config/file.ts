import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fail, invalid } from '../../src/errors/app-error.ts';
import { SETTINGS } from './settings.ts';

type Mapping = Readonly<Record<string, unknown>>;

/** Reads a YAML file as a mapping; a missing file is empty unless it is required. */
export function readYaml(path: string, required = false): Mapping {
  if (!existsSync(path)) {
    if (required) throw fail('not_found', { what: 'config file', id: path });
    return {};
  }
  const value = parseYaml(readFileSync(path, 'utf8'), path);
  if (value === null || value === undefined) return {};
  if (typeof value !== 'object' || Array.isArray(value))
    throw invalid({ field: path, description: 'must be a mapping' });
  return value as Mapping;
}

/**
 * A nested mapping as setting keys with dots. A mapping whose own key is a setting of type object
 * stays whole, and its parts that are settings themselves are taken too.
 */
export function flattenYaml(mapping: Mapping, prefix = ''): Record<string, unknown> {
  const flat: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(mapping)) {
    const key = prefix + name;
    const isMapping = typeof value === 'object' && value !== null && !Array.isArray(value);
    const setting = key in SETTINGS ? SETTINGS[key as keyof typeof SETTINGS] : undefined;
    if (!isMapping || setting?.type === 'object') flat[key] = value;
    if (!isMapping) continue;
    const inner = flattenYaml(value as Mapping, `${key}.`);
    if (setting) keepKnown(inner);
    Object.assign(flat, inner);
  }
  return flat;
}

/** Writes one setting into a YAML file, readable by the owner alone. The other settings stay; comments do not. */
export function writeYamlSetting(path: string, key: string, value: unknown): void {
  const root = structuredClone(readYaml(path)) as Record<string, unknown>;
  const parts = key.split('.');
  const last = parts.pop() ?? key;
  let node = root;
  for (const part of parts) {
    const next = node[part];
    node[part] = typeof next === 'object' && next !== null ? next : {};
    node = node[part] as Record<string, unknown>;
  }
  node[last] = value;
  const temporary = `${path}.new`;
  writeFileSync(temporary, Bun.YAML.stringify(root, null, 2), { mode: 0o600 });
  chmodSync(temporary, 0o600);
  renameSync(temporary, path);
}

function keepKnown(flat: Record<string, unknown>): void {
  for (const key of Object.keys(flat)) if (!(key in SETTINGS)) delete flat[key];
}

function parseYaml(text: string, path: string): unknown {
  try {
    return Bun.YAML.parse(text);
  } catch (error) {
    throw invalid({
      field: path,
      description: `is not YAML: ${error instanceof Error ? error.message : 'unreadable'}`,
    });
  }
}
