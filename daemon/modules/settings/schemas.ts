import { CONFIG_SECTIONS } from '../../../src/api/config/runtime.ts';
import { fail } from '../../../src/errors/app-error.ts';
import { nearest } from '../../../src/kit/nearest.ts';
import { type FullConfig, KEY_OF, SCHEMAS, type SectionName } from './sections.ts';

/** The name of the schema of all sections together. */
const WHOLE = 'runtime';
const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** The names of all schemas: one a section, and the whole. */
export const SCHEMA_NAMES: readonly string[] = [WHOLE, ...CONFIG_SECTIONS];

/** A schema as JSON Schema, with the defaults of this instance. Errors: not_found naming the nearest. */
export function schemaOf(name: string, defaults: FullConfig): Record<string, unknown> {
  if (name === WHOLE) return wholeSchema(defaults);
  const section = CONFIG_SECTIONS.find((one) => one === name);
  if (!section) throw fail('schema_not_found', { name, near: nearest(name, SCHEMA_NAMES) });
  return { $schema: DIALECT, title: section, ...sectionSchema(section, defaults) };
}

function wholeSchema(defaults: FullConfig): Record<string, unknown> {
  const properties = Object.fromEntries(
    CONFIG_SECTIONS.map((section) => [KEY_OF[section], sectionSchema(section, defaults)]),
  );
  return { $schema: DIALECT, title: WHOLE, type: 'object', properties };
}

function sectionSchema(section: SectionName, defaults: FullConfig): Record<string, unknown> {
  const { type, properties, additionalProperties } = SCHEMAS[section];
  const own: Readonly<Record<string, unknown>> = defaults[KEY_OF[section]];
  const described = Object.entries(properties).map(([name, schema]) => [
    name,
    { ...JSON.parse(JSON.stringify(schema)), default: own[name] },
  ]);
  return { type, properties: Object.fromEntries(described), additionalProperties };
}
