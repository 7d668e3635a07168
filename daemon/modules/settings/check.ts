import { type TypeCheck, TypeCompiler, type ValueError, ValueErrorType } from '@sinclair/typebox/compiler';
import type { TSchema } from '../../../src/api/schema.ts';
import { nearest } from '../../../src/kit/nearest.ts';
import { applyRules, type Finding } from './rules.ts';
import { camel, type FullConfig, type Given, KEY_OF, SCHEMAS, type SectionName } from './sections.ts';

/** A section that was looked at. */
export interface CheckedSection {
  readonly section: SectionName;
  /** The fields that were given, by their names in JSON; meaningful when there are no errors. */
  readonly given: Given;
  readonly errors: readonly Finding[];
  readonly warnings: readonly Finding[];
}

const MOST_FINDINGS = 20;

/** Places that fields have in svc.yaml besides (behaviour: Gateway pipeline and configuration). */
const NESTED: Partial<Record<SectionName, Readonly<Record<string, Readonly<Record<string, string>>>>>> = {
  cache: {
    memory: { ttl: 'ttl', maxSize: 'memoryMaxSize' },
    redis: { address: 'redisAddress', db: 'redisDb', poolSize: 'redisPoolSize' },
  },
};

const compiled = new Map<SectionName, TypeCheck<TSchema>>();

/**
 * Looks at what is given for a section. Names may be in camelCase, in snake_case or nested as in svc.yaml; null is
 * absent. `path` goes before the names of fields in what is found.
 */
export function checkSection(
  section: SectionName,
  value: unknown,
  defaults: FullConfig,
  path: string,
): CheckedSection {
  const errors: Finding[] = [];
  const warnings: Finding[] = [];
  const given = named(section, value, (field, code, message) =>
    errors.push({ field: join(path, field), code, message }),
  );
  errors.push(...mismatches(section, given, path));
  if (errors.length === 0) {
    const whole = { ...defaults[KEY_OF[section]], ...given } as FullConfig[keyof FullConfig];
    applyRules(section, whole, (kind, field, code, message) =>
      (kind === 'errors' ? errors : warnings).push({ field: join(path, field), code, message }),
    );
  }
  return { section, given, errors: errors.slice(0, MOST_FINDINGS), warnings };
}

type Problem = (field: string, code: string, message: string) => void;

/** The fields by their names in JSON. */
function named(section: SectionName, value: unknown, problem: Problem): Given {
  if (!isMapping(value)) {
    problem('', 'wrong_type', 'must be a mapping of fields');
    return {};
  }
  const known = Object.keys(SCHEMAS[section].properties);
  const given: Record<string, unknown> = {};
  for (const [name, field, inner] of entries(section, value)) {
    if (inner === null || inner === undefined) continue;
    if (!known.includes(field)) problem(name, 'unknown_field', noSuchField(field, known));
    else if (Object.hasOwn(given, field)) problem(name, 'given_twice', `says ${field} a second time`);
    else given[field] = inner;
  }
  return given;
}

function* entries(
  section: SectionName,
  value: Readonly<Record<string, unknown>>,
): Generator<readonly [name: string, field: string, inner: unknown]> {
  for (const [name, inner] of Object.entries(value)) {
    const places = own(NESTED[section], name);
    if (!places || !isMapping(inner)) yield [name, camel(name), inner];
    else
      for (const [part, last] of Object.entries(inner))
        yield [`${name}.${part}`, own(places, camel(part)) ?? `${name}.${part}`, last];
  }
}

/** What a table has under a name that somebody sent. */
function own<T>(table: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return table && Object.hasOwn(table, name) ? table[name] : undefined;
}

function mismatches(section: SectionName, given: Given, path: string): Finding[] {
  const check = compiledCheck(section);
  if (check.Check(given)) return [];
  const found: Finding[] = [];
  for (const error of check.Errors(given)) {
    const field = join(path, error.path.slice(1).replaceAll('/', '.'));
    if (!found.some((one) => one.field === field)) found.push({ field, ...describe(error) });
    if (found.length === MOST_FINDINGS) break;
  }
  return found;
}

function compiledCheck(section: SectionName): TypeCheck<TSchema> {
  const check = compiled.get(section) ?? TypeCompiler.Compile<TSchema>(SCHEMAS[section]);
  compiled.set(section, check);
  return check;
}

const CODES: Partial<Record<ValueErrorType, string>> = {
  [ValueErrorType.IntegerMinimum]: 'out_of_range',
  [ValueErrorType.IntegerMaximum]: 'out_of_range',
  [ValueErrorType.NumberMinimum]: 'out_of_range',
  [ValueErrorType.NumberMaximum]: 'out_of_range',
  [ValueErrorType.StringMinLength]: 'out_of_range',
  [ValueErrorType.StringMaxLength]: 'out_of_range',
  [ValueErrorType.ArrayMaxItems]: 'out_of_range',
  [ValueErrorType.ObjectMaxProperties]: 'out_of_range',
  [ValueErrorType.StringPattern]: 'wrong_form',
};

function describe({ schema, type }: ValueError): Pick<Finding, 'code' | 'message'> {
  if (Array.isArray(schema.enum))
    return { code: 'unknown_value', message: `must be one of ${schema.enum.join(', ')}` };
  if (type === ValueErrorType.StringPattern)
    return { code: 'wrong_form', message: 'must be a duration such as 30s or 1h30m' };
  const code = CODES[type];
  if (code) return { code, message: `must be ${bounds(schema)}` };
  return { code: 'wrong_type', message: `must be ${KINDS[String(schema.type)] ?? 'of another type'}` };
}

const KINDS: Readonly<Record<string, string>> = {
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  string: 'text',
  array: 'a list',
  object: 'a mapping',
};

function bounds(schema: TSchema): string {
  const [least, most] = [
    schema.minimum ?? schema.minLength ?? schema.minItems ?? 0,
    schema.maximum ?? schema.maxLength ?? schema.maxItems ?? schema.maxProperties,
  ];
  const unit = schema.type === 'string' ? ' characters long' : schema.type === 'array' ? ' entries long' : '';
  return `${least} to ${most}${unit}`;
}

function noSuchField(field: string, known: readonly string[]): string {
  const [near] = nearest(field, known, 1);
  return near ? `there is no such field; did you mean ${near}?` : 'there is no such field';
}

function join(path: string, field: string): string {
  return [path, field].filter((part) => part !== '').join('.');
}

/** Whether a value is an object that is no list. */
export function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
