import { type Static, type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox';

export type { Static, TObject, TProperties, TSchema } from '@sinclair/typebox';
export { Type as t } from '@sinclair/typebox';

/** A named object all of whose fields are optional, as the published reference has them. */
export function model<const P extends TProperties>(name: string, properties: P) {
  return Type.Partial(Type.Object(properties), { $id: name });
}

/** A named enum: a string out of a fixed list. Its first value is the default. */
export function enumeration<const V extends readonly [string, ...string[]]>(name: string, values: V) {
  return Type.Unsafe<V[number]>({ type: 'string', enum: [...values], default: values[0], $id: name });
}

/** A string out of a fixed list, without a name of its own. */
export function oneOf<const V extends readonly [string, ...string[]]>(...values: V) {
  return Type.Unsafe<V[number]>({ type: 'string', enum: [...values] });
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
