import { FormatRegistry, Kind, type TSchema } from '@sinclair/typebox';
import { type TypeCheck, TypeCompiler, type ValueError } from '@sinclair/typebox/compiler';
import type { FieldViolation } from '../../src/errors/app-error.ts';
import { AppError } from '../../src/errors/app-error.ts';
import { nearest } from '../../src/kit/nearest.ts';
import { type Dialect, normalize } from './normalize.ts';

const MAX_VIOLATIONS = 20;

FormatRegistry.Set('int64', (text) => /^-?\d{1,19}$/.test(text));
FormatRegistry.Set(
  'date-time',
  (text) => /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}/.test(text) && !Number.isNaN(Date.parse(text)),
);
FormatRegistry.Set('byte', (text) => /^[A-Za-z0-9+/_-]*={0,2}$/.test(text));
for (const format of ['uri', 'email', 'binary', 'password']) FormatRegistry.Set(format, () => true);

/** Checks values against one schema. */
export interface Validator {
  /** The normalized value. Errors: invalid_argument (400, code 3) naming each wrong field. */
  check(value: unknown): unknown;
}

/** Makes the validator of a schema. The check is compiled at its first use, so that starting stays quick. */
export function validator(schema: TSchema, dialect: Dialect): Validator {
  let compiled: TypeCheck<TSchema> | undefined;
  return {
    check(value) {
      const unknownFields: string[] = [];
      const normalized = normalize(schema, value, dialect, unknownFields);
      if (unknownFields.length > 0)
        throw refuse(unknownFields.map((field) => describeUnknown(schema, field)));
      compiled ??= TypeCompiler.Compile(schema);
      if (compiled.Check(normalized)) return normalized;
      throw refuse([...take(compiled.Errors(normalized), MAX_VIOLATIONS)].map(describe));
    },
  };
}

function refuse(violations: readonly FieldViolation[]): AppError {
  const unique = violations.filter(
    (one, i) => violations.findIndex((other) => other.field === one.field) === i,
  );
  const [first] = unique;
  const field = first?.field ?? 'body';
  return new AppError(
    'invalid_argument',
    { field, message: `${field}: ${first?.description ?? 'is wrong'}` },
    unique,
  );
}

function describe(error: ValueError): FieldViolation {
  const field = error.path.slice(1).replaceAll('/', '.') || 'body';
  return { field, description: expectation(error) };
}

function expectation({ schema, value, message }: ValueError): string {
  if (value === undefined) return 'is required';
  if (Array.isArray(schema.enum)) return `must be one of ${schema.enum.join(', ')}`;
  if (schema[Kind] === 'Integer' && typeof value !== 'number') return 'must be a whole number';
  if (schema.format === 'int64') return 'must be a whole number, as text';
  if (schema.format === 'date-time') return 'must be an RFC 3339 time such as 2026-01-31T12:00:00Z';
  if (schema.format === 'byte') return 'must be base64';
  if (schema[Kind] === 'Union') return 'has none of the forms that it may have';
  const words = message.replace(/^Expected /, 'must be ');
  return words.charAt(0).toLowerCase() + words.slice(1);
}

function describeUnknown(schema: TSchema, field: string): FieldViolation {
  const near = nearest(field, Object.keys(schema.properties ?? {}), 1);
  return {
    field,
    description:
      near.length > 0 ? `there is no such field; did you mean ${near[0]}?` : 'there is no such field',
  };
}

function* take<T>(items: Iterable<T>, most: number): Iterable<T> {
  let count = 0;
  for (const item of items) {
    if (count++ >= most) return;
    yield item;
  }
}
