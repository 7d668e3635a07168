import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { type FieldViolation, invalid } from '../../src/errors/app-error.ts';
import { linearPatterns } from './linear-pattern.ts';
import { type CostProblem, countValues, type SchemaCost, schemaCost } from './schema-cost.ts';

/** The largest schema, as JSON text, and with everything that it refers to written out. */
const MOST_CHARACTERS = 64 * 1024;
const MOST_STEPS = 2_000;
/** The largest arguments, as JSON text: what a check takes grows with them. */
const MOST_ARGUMENTS = 256 * 1024;
/** The most work of one check, in steps of about a tenth of a microsecond. */
const MOST_WORK = 5_000_000;
/** Characters that are looked through in one step, where no pattern does it. */
const CHARACTERS = 64;
const MOST_VIOLATIONS = 20;
/** Words that move what a reference means. */
const BASES = ['$id', '$anchor', '$dynamicAnchor'];

const OPTIONS = {
  strict: false,
  validateFormats: false,
  logger: false,
  ownProperties: true,
  addUsedSchema: false,
  code: { regExp: linearPatterns },
} as const;

/** Knows what a schema is. What it has compiled for that is kept. */
const dialect = new Ajv2020(OPTIONS);

/** What the arguments of a tool may be. */
export interface ArgumentSchema {
  /** What is wrong with arguments; empty when nothing is. Fields begin with `field`. */
  check(args: unknown, field: string): readonly FieldViolation[];
}

/**
 * Reads the JSON Schema (2020-12) of a tool's arguments, which somebody wrote whom nobody trusts: patterns are RE2's,
 * references lead to places inside it and not in circles, and its size written out is bounded, so that no check takes
 * long. `format` is a note, not a check. Errors: invalid_argument naming the field.
 */
export function argumentSchema(schema: Readonly<Record<string, unknown>>, field: string): ArgumentSchema {
  if (Object.keys(schema).length === 0)
    return { check: (args, at) => sizeProblems(args, at, { steps: 1, patterns: 0 }) };
  const refuse = (description: string) => invalid({ field, description });
  if (JSON.stringify(schema).length > MOST_CHARACTERS)
    throw refuse(`is more than ${MOST_CHARACTERS / 1024} KiB`);
  if (Object.hasOwn(schema, 'type') && schema.type !== 'object')
    throw refuse('must describe an object: its type is "object"');
  // Its own name would be looked up, and its dialect is this one.
  const { $id: _id, $schema: _dialect, ...own } = schema;
  const base = BASES.find((word) => hasWord(own, word));
  if (base) throw refuse(`has ${base}, which is not taken; refer to #/$defs/... instead`);
  const cost = schemaCost(own, MOST_STEPS);
  if ('problem' in cost) throw refuse(costWords(cost));
  const validate = compile(own, refuse);
  return {
    check(args, at) {
      const tooLarge = sizeProblems(args, at, cost);
      if (tooLarge.length > 0 || validate(args)) return tooLarge;
      return (validate.errors ?? []).slice(0, MOST_VIOLATIONS).map((error) => violation(error, at));
    },
  };
}

function sizeProblems(
  args: unknown,
  field: string,
  { steps, patterns }: SchemaCost,
): readonly FieldViolation[] {
  const size = (JSON.stringify(args) ?? '').length;
  if (size > MOST_ARGUMENTS)
    return [{ field, description: `must be at most ${MOST_ARGUMENTS / 1024} KiB of JSON` }];
  const work = steps * (countValues(args) + size / CHARACTERS) + patterns * size;
  return work <= MOST_WORK ? [] : [{ field, description: 'are too many for a schema of this size' }];
}

function compile(
  schema: Readonly<Record<string, unknown>>,
  refuse: (description: string) => Error,
): ValidateFunction {
  if (!dialect.validateSchema(schema)) throw refuse(`is not a JSON Schema: ${dialect.errorsText()}`);
  const ajv = new Ajv2020({ ...OPTIONS, meta: false, validateSchema: false });
  // The library's own compares every item with every other one.
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    validate: (wanted: boolean, items: readonly unknown[]) =>
      !wanted || new Set(items.map(canonical)).size === items.length,
  });
  try {
    return ajv.compile({ ...schema, type: 'object' });
  } catch (error) {
    throw refuse(`is not a JSON Schema: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function hasWord(value: unknown, word: string): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(
    ([name, inner]) => (name === word && typeof inner === 'string') || hasWord(inner, word),
  );
}

/** JSON text that is the same for values that JSON Schema calls equal: the order of names does not count. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

function costWords(cost: CostProblem): string {
  switch (cost.problem) {
    case 'recursive':
      return `refers to itself (${cost.ref}); write out what is needed`;
    case 'unknown-ref':
      return `refers to ${cost.ref}, which is no place inside it`;
    case 'too-large':
      return `is more than ${MOST_STEPS} steps when what it refers to is written out`;
  }
}

function violation({ instancePath, keyword, params, message }: ErrorObject, field: string): FieldViolation {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (keyword === 'required') path.push(String(params.missingProperty));
  if (keyword === 'additionalProperties') path.push(String(params.additionalProperty));
  return { field: [field, ...path].join('.'), description: words(keyword, params, message) };
}

function words(keyword: string, params: ErrorObject['params'], message: string | undefined): string {
  if (keyword === 'required') return 'is required';
  if (keyword === 'additionalProperties') return 'is not an argument';
  if (keyword === 'uniqueItems') return 'must not hold the same item twice';
  if (keyword === 'enum' && Array.isArray(params.allowedValues))
    return `must be one of ${params.allowedValues.map((one: unknown) => JSON.stringify(one)).join(', ')}`;
  return message ?? 'is wrong';
}
