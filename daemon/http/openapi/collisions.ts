import type { Endpoint } from '../../../src/api/endpoint.ts';
import type { TSchema } from '../../../src/api/schema.ts';

/** Names in a document that holds several specifications: plain while unique, else `<spec>.<name>`. */
export interface SharedNames {
  readonly operationId: (endpoint: Endpoint) => string;
  readonly nameOf: (schema: TSchema, spec: string) => string;
}

/** Finds the names that several operations, or several shapes, share. */
export function sharedNames(operations: readonly Endpoint[]): SharedNames {
  const ids = new Map<string, Set<string>>();
  const shapes = new Map<string, Set<string>>();
  for (const endpoint of operations) {
    add(ids, endpoint.id, endpoint.spec);
    for (const schema of schemasOf(endpoint)) collect(schema, shapes);
  }
  const prefixed = (name: string, spec: string, known: Map<string, Set<string>>) =>
    (known.get(name)?.size ?? 0) > 1 ? `${spec}.${name}` : name;
  return {
    operationId: ({ id, spec }) => prefixed(id, spec, ids),
    nameOf: ({ $id = '' }, spec) => prefixed($id, spec, shapes),
  };
}

function schemasOf({ params, query, headers, body, response, chunk }: Endpoint): TSchema[] {
  return [params, query, headers, body, response, chunk].filter((schema) => schema !== undefined);
}

function collect(schema: TSchema, shapes: Map<string, Set<string>>): void {
  if (schema.$id !== undefined) add(shapes, schema.$id, JSON.stringify(schema));
  const parts: TSchema[] = [
    ...Object.values<TSchema>(schema.properties ?? {}),
    ...Object.values<TSchema>(schema.patternProperties ?? {}),
    ...(schema.anyOf ?? []),
    ...(schema.items ? [schema.items] : []),
  ];
  for (const part of parts) collect(part, shapes);
}

function add(sets: Map<string, Set<string>>, key: string, value: string): void {
  const set = sets.get(key) ?? new Set();
  sets.set(key, set.add(value));
}
