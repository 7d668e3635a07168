import { Kind, type TSchema } from '@sinclair/typebox';
import fc from 'fast-check';

/** Values of the instance that fields may name, by the name of the field. */
export type Pool = Readonly<Record<string, readonly string[]>>;

/** Values that a schema allows. A text whose field stands in the pool is often one of the pool's. */
export function validValue(schema: TSchema, pool: Pool, field = ''): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  const parts: readonly TSchema[] | undefined = schema.anyOf ?? schema.allOf;
  if (parts) return fc.oneof(...parts.map((part) => validValue(part, pool, field)));
  switch (schema.type) {
    case 'string':
      return validText(schema, pool[field]);
    case 'integer':
      return fc.integer({ min: schema.minimum, max: Math.min(schema.maximum ?? 100, 2 ** 31 - 1) });
    case 'number':
      return fc.double({ min: schema.minimum ?? 0, max: schema.maximum ?? 1_000, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return fc.array(validValue(schema.items, pool, field), {
        minLength: schema.minItems,
        maxLength: Math.min(schema.maxItems ?? 3, 3),
      });
    case 'object':
      return validObject(schema, pool);
    default:
      if (schema[Kind] === 'Unknown') return fc.jsonValue({ maxDepth: 2 });
      throw new Error(`no values are known for ${JSON.stringify(schema)}`);
  }
}

function validObject(schema: TSchema, pool: Pool): fc.Arbitrary<unknown> {
  if (schema.patternProperties) {
    const [inner] = Object.values(schema.patternProperties) as TSchema[];
    return fc.dictionary(fc.stringMatching(/^[A-Za-z_]{1,8}$/), validValue(inner as TSchema, pool), {
      maxKeys: 3,
    });
  }
  const entries = Object.entries<TSchema>(schema.properties ?? {});
  const model = Object.fromEntries(entries.map(([name, inner]) => [name, validValue(inner, pool, name)]));
  return fc.record(model, { requiredKeys: schema.required ?? [] });
}

function validText(schema: TSchema, named: readonly string[] | undefined): fc.Arbitrary<string> {
  if (schema.format === 'int64') return fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String);
  if (schema.format === 'date-time') {
    const range = { min: new Date(0), max: new Date(4e12), noInvalidDate: true };
    return fc.date(range).map((date) => date.toISOString());
  }
  if (schema.format === 'byte') return fc.base64String({ maxLength: 40 });
  const any = fc.string({ minLength: schema.minLength, maxLength: 20, unit: 'grapheme' });
  return named && named.length > 0 ? fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...named) }, any) : any;
}
