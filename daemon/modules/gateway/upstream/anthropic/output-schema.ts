type Schema = Readonly<Record<string, unknown>>;

/** Words of JSON Schema that the provider refuses in a schema it holds answers to (its documentation, Structured outputs). */
const UNKNOWN = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'patternProperties',
  'propertyNames',
] as const;
const MAPS = ['properties', '$defs', 'definitions'] as const;
const LISTS = ['anyOf', 'oneOf', 'allOf'] as const;

/**
 * A JSON Schema in the form to which the provider holds answers: objects are closed, and limits that it does not enforce stand in the
 * description, where the model reads them. Undefined when it cannot be said so: an object with any keys, or one without a root object.
 */
export function asOutputSchema(schema: Schema): Record<string, unknown> | undefined {
  try {
    return converted(schema);
  } catch (error) {
    if (error instanceof CannotBeSaid) return undefined;
    throw error;
  }
}

class CannotBeSaid extends Error {}

function converted(schema: Schema): Record<string, unknown> {
  const result: Record<string, unknown> = { ...schema };
  const limits = take(result);
  for (const name of MAPS) if (isSchema(result[name])) result[name] = mapValues(result[name], converted);
  for (const name of LISTS)
    if (Array.isArray(result[name])) result[name] = result[name].map(convertedIfSchema);
  if (result.items !== undefined) result.items = convertedIfSchema(result.items);
  if (isObject(result)) close(result);
  if (limits !== '') result.description = [result.description, `(${limits})`].filter(Boolean).join(' ');
  return result;
}

/** Takes the limits out, as words: `minimum: 1, maximum: 9`. */
function take(schema: Record<string, unknown>): string {
  const words: string[] = [];
  const drop = (name: string) => {
    words.push(`${name}: ${JSON.stringify(schema[name])}`);
    delete schema[name];
  };
  for (const name of UNKNOWN) if (name in schema) drop(name);
  if (typeof schema.minItems === 'number' && schema.minItems > 1) drop('minItems');
  return words.join(', ');
}

function close(schema: Record<string, unknown>): void {
  const open = schema.additionalProperties;
  if (open !== undefined && open !== false) throw new CannotBeSaid();
  if (schema.properties === undefined && !LISTS.some((name) => name in schema)) throw new CannotBeSaid();
  schema.additionalProperties = false;
}

function isObject({ type, properties }: Schema): boolean {
  return type === 'object' || (Array.isArray(type) && type.includes('object')) || properties !== undefined;
}

function convertedIfSchema(value: unknown): unknown {
  return isSchema(value) ? converted(value) : value;
}

function mapValues(map: Schema, change: (schema: Schema) => unknown): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(map).map(([name, value]) => [name, isSchema(value) ? change(value) : value]),
  );
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
