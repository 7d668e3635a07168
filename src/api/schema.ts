import {
  Kind,
  type Static,
  type TObject,
  type TOptional,
  type TProperties,
  type TSchema,
  Type,
  TypeRegistry,
} from '@sinclair/typebox';

export type { Static, TObject, TProperties, TSchema } from '@sinclair/typebox';
export { Type as t } from '@sinclair/typebox';

const STRING_ENUM = 'StringEnum';

TypeRegistry.Set<{ enum: readonly string[] }>(
  STRING_ENUM,
  (schema, value) => typeof value === 'string' && schema.enum.includes(value),
);

type Optional<P extends TProperties> = { [K in keyof P]: TOptional<P[K]> };

/** Every field optional. A plain mapped type: TypeBox's Partial costs the checker a tenth more for the whole tree. */
function optional<const P extends TProperties>(properties: P): Optional<P> {
  const marked = Object.entries(properties).map(([name, schema]) => [name, Type.Optional(schema)]);
  return Object.fromEntries(marked) as Optional<P>;
}

/** A named object all of whose fields are optional, as the published reference has them. */
export function model<const P extends TProperties>(name: string, properties: P) {
  return Type.Object(optional(properties), { $id: name });
}

/** A named object whose first fields are required and whose second ones are not. */
export function object<const R extends TProperties, const O extends TProperties = Record<never, never>>(
  name: string,
  required: R,
  others: O = {} as O,
) {
  return Type.Object({ ...required, ...optional(others) } as R & Optional<O>, { $id: name });
}

/** As `object`, but fields that it does not name pass through: the wire formats of others grow. */
export function open<const R extends TProperties, const O extends TProperties = Record<never, never>>(
  name: string,
  required: R,
  others: O = {} as O,
) {
  const properties = { ...required, ...optional(others) } as R & Optional<O>;
  return Type.Object(properties, { $id: name, additionalProperties: true });
}

/** Optional fields without a name of their own, as a query has them. */
export function fields<const P extends TProperties>(properties: P) {
  return Type.Object(optional(properties));
}

/** Path parameters that are plain strings. */
export function ids<const N extends readonly string[]>(...names: N) {
  const properties = Object.fromEntries(names.map((name) => [name, Type.String({ minLength: 1 })]));
  return Type.Object(properties as { [K in N[number]]: ReturnType<typeof Type.String> });
}

/** The value or null. */
export const nullable = <const S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

/** Bytes on the wire, with the media types that they may have. */
export const binary = (...mediaTypes: readonly string[]) =>
  Type.Unsafe<Uint8Array>({ type: 'string', format: 'binary', mediaTypes });

/** A named enum: a string out of a fixed list. Its first value is the default. */
export function enumeration<const V extends readonly [string, ...string[]]>(name: string, values: V) {
  return Type.Unsafe<V[number]>({
    [Kind]: STRING_ENUM,
    type: 'string',
    enum: [...values],
    default: values[0],
    $id: name,
  });
}

/** A string out of a fixed list, without a name of its own. */
export function oneOf<const V extends readonly [string, ...string[]]>(...values: V) {
  return Type.Unsafe<V[number]>({ [Kind]: STRING_ENUM, type: 'string', enum: [...values] });
}

/** A 32-bit integer. */
export const int32 = (options: { minimum?: number; maximum?: number; description?: string } = {}) =>
  Type.Integer({ format: 'int32', minimum: -2_147_483_648, maximum: 2_147_483_647, ...options });

/** A 64-bit integer, which travels as a string. A number is accepted in requests. */
export const int64 = (options: { readonly description?: string } = {}) =>
  Type.String({ ...options, format: 'int64', pattern: '^-?[0-9]{1,19}$' });

/** A point in time as RFC 3339 text. */
export const timestamp = () => Type.String({ format: 'date-time' });

/** An object with string values. */
export const stringMap = () => Type.Record(Type.String(), Type.String());

/** A free-form JSON object. */
export const struct = () => Type.Record(Type.String(), Type.Unknown());

/** Bytes as base64 text. */
export const base64 = () => Type.String({ format: 'byte' });

/** An object with no fields. */
export const empty = Type.Object({});

/** The value that a schema describes. */
export type Value<S> = S extends TSchema ? Static<S> : undefined;

/** A path or query part of an endpoint. */
export type Fields = TObject<TProperties>;
