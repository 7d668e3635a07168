import { type Static, type TSchema, t } from '../schema.ts';

/** `session_id` as `sessionId`. */
export type CamelKey<K> = K extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelKey<Tail>>}`
  : K;

/** A type with its field names in camelCase. The keys of maps stay as they are. */
export type CamelCased<T> = T extends readonly (infer I)[]
  ? CamelCased<I>[]
  : T extends object
    ? { [K in keyof T as CamelKey<K>]: CamelCased<T[K]> }
    : T;

/** `session_id` as `sessionId`. */
export function camelKey(key: string): string {
  return key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** The same schema with its field names in camelCase. */
export function camelCased<S extends TSchema>(schema: S) {
  return t.Unsafe<CamelCased<Static<S>>>(rename(schema));
}

function rename(schema: TSchema): TSchema {
  const result: TSchema = { ...schema };
  if (schema.properties) {
    const properties: [string, TSchema][] = Object.entries(schema.properties);
    result.properties = Object.fromEntries(properties.map(([key, inner]) => [camelKey(key), rename(inner)]));
    result.required = (schema.required as string[] | undefined)?.map(camelKey);
    if (result.required === undefined) delete result.required;
  }
  if (schema.items) result.items = rename(schema.items);
  if (schema.anyOf) result.anyOf = schema.anyOf.map(rename);
  return result;
}
