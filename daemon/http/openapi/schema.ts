import type { TSchema } from '../../../src/api/schema.ts';

/** A part of an OpenAPI document. */
export type Json = Record<string, unknown>;

/** Writes the schemas of one document. */
export interface SchemaWriter {
  /** A schema in the dialect of OpenAPI 3.0; a named one as a reference. */
  write(schema: TSchema, spec: string): Json;
  /** The named schemas that were referred to so far. */
  readonly schemas: Json;
}

/** How a document names the schemas that have a name. */
export interface Naming {
  /** The key under components.schemas. */
  readonly nameOf: (schema: TSchema, spec: string) => string;
}

/** Keywords that mean the same in JSON Schema and in OpenAPI 3.0. */
const SHARED = [
  'type',
  'format',
  'description',
  'default',
  'enum',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'multipleOf',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
] as const;

const INT32 = { minimum: -2_147_483_648, maximum: 2_147_483_647 } as const;

/** Makes the writer of a document. */
export function schemaWriter({ nameOf }: Naming): SchemaWriter {
  const schemas: Json = {};
  const write = (schema: TSchema, spec: string): Json => {
    if (schema.$id === undefined) return content(schema, spec);
    const name = nameOf(schema, spec);
    if (!(name in schemas)) {
      schemas[name] = {};
      schemas[name] = content(schema, spec);
    }
    return { $ref: `#/components/schemas/${name}` };
  };
  const content = (schema: TSchema, spec: string): Json => {
    const inner = (part: TSchema) => write(part, spec);
    if (schema.anyOf) return union(schema.anyOf, schema.description, inner);
    return {
      ...keywords(schema),
      ...(schema.items ? { items: inner(schema.items) } : {}),
      ...objectParts(schema, inner),
    };
  };
  return { write, schemas };
}

function keywords(schema: TSchema): Json {
  const result: Json = {};
  for (const name of SHARED) if (schema[name] !== undefined) result[name] = schema[name];
  if (schema.const !== undefined) result.enum = [schema.const];
  if (schema.format === 'int32') {
    if (schema.minimum === INT32.minimum) delete result.minimum;
    if (schema.maximum === INT32.maximum) delete result.maximum;
  }
  return {
    ...result,
    ...exclusive(schema, 'exclusiveMinimum', 'minimum'),
    ...exclusive(schema, 'exclusiveMaximum', 'maximum'),
  };
}

/** JSON Schema has the bound itself, OpenAPI 3.0 a flag beside the bound. */
function exclusive(schema: TSchema, flag: string, bound: string): Json {
  return typeof schema[flag] === 'number' ? { [bound]: schema[flag], [flag]: true } : {};
}

function objectParts(schema: TSchema, inner: (part: TSchema) => Json): Json {
  const result: Json = {};
  const properties = Object.entries<TSchema>(schema.properties ?? {});
  if (properties.length > 0)
    result.properties = Object.fromEntries(properties.map(([name, part]) => [name, inner(part)]));
  if (schema.required?.length > 0) result.required = schema.required;
  const [values] = Object.values<TSchema>(schema.patternProperties ?? {});
  const additional: unknown = values ?? schema.additionalProperties;
  if (additional !== undefined)
    result.additionalProperties = typeof additional === 'object' ? inner(additional as TSchema) : additional;
  return result;
}

function union(members: TSchema[], description: string | undefined, inner: (part: TSchema) => Json): Json {
  const values = members.filter((member) => member.type !== 'null');
  const described = description === undefined ? {} : { description };
  const written = { ...described, ...alternatives(values, inner) };
  return values.length === members.length ? written : nullable(written, values[0]);
}

function alternatives(values: TSchema[], inner: (part: TSchema) => Json): Json {
  const [only] = values;
  if (values.length === 1 && only) return inner(only);
  const texts = values.flatMap((value) =>
    value.const === undefined ? (value.enum ?? [undefined]) : [value.const],
  );
  if (texts.every((text) => typeof text === 'string')) return { type: 'string', enum: texts };
  return { anyOf: values.map(inner) };
}

/** OpenAPI 3.0 has no null type: a flag says that null is allowed, beside a type of its own. */
function nullable(written: Json, value: TSchema | undefined): Json {
  const { $ref, description, ...rest } = written;
  if ($ref !== undefined)
    return { type: value?.type ?? 'object', nullable: true, description, allOf: [{ $ref }] };
  if (Array.isArray(written.anyOf)) {
    const [first, ...others] = written.anyOf as Json[];
    return { ...written, anyOf: [nullable(first ?? {}, value?.anyOf?.[0] ?? value), ...others] };
  }
  if (written.type === undefined) return written;
  const values = Array.isArray(written.enum) ? { enum: [...written.enum, null] } : {};
  return { ...rest, ...(description === undefined ? {} : { description }), nullable: true, ...values };
}
