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

TypeRegistry.Set<{ enum: readonly string[] }>(STRING_ENUM, (schema, value) =>
  schema.enum.includes(String(value)),
);

/** A named object all of whose fields are optional, as the published reference has them. */
export function model<const P extends TProperties>(name: string, properties: P) {
  return Type.Partial(Type.Object(properties), { $id: name });
}

/** Required and optional properties side by side. */
type Shape<R extends TProperties, O extends TProperties> = R & { [K in keyof O]: TOptional<O[K]> };

function shape<R extends TProperties, O extends TProperties>(required: R, optional: O) {
  return { ...required, ...Type.Partial(Type.Object(optional)).properties } as unknown as Shape<R, O>;
}

/** A named object whose first fields are required and whose second ones are not. */
export function object<const R extends TProperties, const O extends TProperties = Record<never, never>>(
  name: string,
  required: R,
  optional: O = {} as O,
) {
  return Type.Object(shape(required, optional), { $id: name });
}

/** As `object`, but fields that it does not name pass through: the wire formats of others grow. */
export function open<const R extends TProperties, const O extends TProperties = Record<never, never>>(
  name: string,
  required: R,
  optional: O = {} as O,
) {
  return Type.Object(shape(required, optional), { $id: name, additionalProperties: true });
}

/** Optional fields without a name of their own, as a query has them. */
export function fields<const P extends TProperties>(properties: P) {
  return Type.Partial(Type.Object(properties));
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
export const int64 = () => Type.String({ format: 'int64', pattern: '^-?[0-9]{1,19}$' });

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
