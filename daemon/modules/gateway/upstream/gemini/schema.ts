import { isObject } from '../translate/content.ts';

/**
 * A JSON schema as `parametersJsonSchema` and `responseJsonSchema` take it: JSON Schema with a few words fewer. A reference
 * stands alone, `const` is an `enum` of one, and `allOf` is merged.
 */
export function toGeminiSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(toGeminiSchema);
  if (!isObject(schema)) return schema;
  if (typeof schema.$ref === 'string') return pick(schema, (name) => name === '$ref' || name === '$defs');
  const { allOf, const: only, $schema: _, ...rest } = schema;
  const merged = Array.isArray(allOf) ? merge(rest, allOf) : rest;
  if (only !== undefined) merged.enum = [only];
  return Object.fromEntries(Object.entries(merged).map(([name, value]) => [name, translate(name, value)]));
}

/** Values of these words are data, not schemas. */
const DATA = new Set(['enum', 'default', 'example', 'examples', 'required', 'type', 'propertyOrdering']);
/** Values of these words are schemas by name. */
const NAMED = new Set(['properties', '$defs', 'definitions', 'patternProperties']);

function translate(name: string, value: unknown): unknown {
  if (DATA.has(name)) return value;
  if (!NAMED.has(name) || !isObject(value)) return toGeminiSchema(value);
  return Object.fromEntries(Object.entries(value).map(([key, schema]) => [key, toGeminiSchema(schema)]));
}

function pick(schema: Record<string, unknown>, keeps: (name: string) => boolean): Record<string, unknown> {
  const kept = Object.entries(schema).filter(([name]) => keeps(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, translate(name, value)]));
}

function merge(rest: Record<string, unknown>, all: readonly unknown[]): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...rest };
  for (const schema of all.filter(isObject)) {
    for (const [name, value] of Object.entries(schema)) {
      const before = merged[name];
      if (isObject(before) && isObject(value)) merged[name] = { ...before, ...value };
      else if (name === 'required' && Array.isArray(before) && Array.isArray(value))
        merged[name] = [...new Set([...before, ...value])];
      else merged[name] = value;
    }
  }
  return merged;
}
