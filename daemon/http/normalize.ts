import type { TSchema } from '@sinclair/typebox';

/**
 * How input is read. `native`: field names in camelCase or snake_case, values of enums by their full or
 * short names, 64-bit integers as text or number, null means absent, an unknown field is an error. `query`: the same from text, where unknown
 * names are ignored. `compat`: to the letter; unknown fields pass through.
 */
export type Dialect = 'native' | 'query' | 'compat';

/** A copy of a value with the names and number forms of its schema. Unknown fields are added to `unknown`. */
export function normalize(
  schema: TSchema,
  value: unknown,
  dialect: Dialect,
  unknown: string[],
  path = '',
): unknown {
  if (dialect === 'compat') return value;
  if (schema.type === 'array' && schema.items) return normalizeList(schema, value, dialect, unknown, path);
  if (schema.type === 'object' && schema.properties && isObject(value)) {
    return normalizeObject(schema, value, dialect, unknown, path);
  }
  const named = fullName(schema, value);
  return dialect === 'query' ? fromText(schema, named) : fromNumber(schema, named);
}

function normalizeList(
  schema: TSchema,
  value: unknown,
  dialect: Dialect,
  unknown: string[],
  path: string,
): unknown {
  const list = dialect === 'query' && !Array.isArray(value) ? [value] : value;
  if (!Array.isArray(list)) return value;
  return list.map((item, i) => normalize(schema.items, item, dialect, unknown, `${path}${i}.`));
}

function normalizeObject(
  schema: TSchema,
  value: Readonly<Record<string, unknown>>,
  dialect: Dialect,
  unknown: string[],
  path: string,
): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [given, inner] of Object.entries(value)) {
    const name = knownName(schema.properties, given);
    const property: TSchema | undefined = name === undefined ? undefined : schema.properties[name];
    if (property && name !== undefined) {
      if (inner !== null || allowsNull(property))
        result[name] = normalize(property, inner, dialect, unknown, `${path}${name}.`);
    } else if (typeof schema.additionalProperties === 'object' || schema.additionalProperties === true) {
      result[given] = inner;
    } else if (dialect === 'native') {
      unknown.push(path + given);
    }
  }
  return result;
}

function knownName(properties: Readonly<Record<string, TSchema>>, given: string): string | undefined {
  if (Object.hasOwn(properties, given)) return given;
  const camel = given.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  if (Object.hasOwn(properties, camel)) return camel;
  const snake = given.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.hasOwn(properties, snake) ? snake : undefined;
}

const UNSPECIFIED = 'UNSPECIFIED';

/** A short name of an enum's value, `webhook`, as its full one, `EXECUTION_MODE_WEBHOOK`. */
function fullName(schema: TSchema, value: unknown): unknown {
  const values: unknown = schema.enum;
  if (typeof value !== 'string' || !Array.isArray(values) || values.includes(value)) return value;
  const none: unknown = values[0];
  if (typeof none !== 'string' || !none.endsWith(`_${UNSPECIFIED}`)) return value;
  const full = none.slice(0, -UNSPECIFIED.length) + value.toUpperCase();
  return values.includes(full) ? full : value;
}

function fromNumber(schema: TSchema, value: unknown): unknown {
  return schema.format === 'int64' && Number.isSafeInteger(value) ? String(value) : value;
}

function fromText(schema: TSchema, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (schema.type === 'integer' || schema.type === 'number')
    return /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value;
  if (schema.type === 'boolean')
    return value === 'true' || value === '1' ? true : value === 'false' || value === '0' ? false : value;
  return value;
}

function allowsNull(schema: TSchema): boolean {
  return schema.type === 'null' || schema.type === undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
