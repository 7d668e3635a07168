import { describe, expect, test } from 'bun:test';
import type { Endpoint } from './endpoint.ts';
import { SPECS, type SpecName } from './endpoint.ts';
import { groups, operations, operationsOf } from './index.ts';
import type { TSchema } from './schema.ts';

/** The table of the specification: 13 documents, 247 operations. */
const PUBLISHED: Readonly<Record<SpecName, number>> = {
  agents: 78,
  'api-keys': 6,
  auth: 15,
  config: 11,
  functions: 7,
  gateway: 21,
  mcp: 9,
  memory: 9,
  'compat-agents-rest': 21,
  'compat-agents-rest.source': 21,
  'compat-agents': 21,
  providers: 14,
  workflows: 14,
};

describe('the contract', () => {
  test.each(SPECS.map((spec) => [spec] as const))('publishes every operation of %s', (spec) => {
    expect(operationsOf(spec)).toHaveLength(PUBLISHED[spec]);
  });

  test('publishes 247 operations in all', () => {
    expect(SPECS.flatMap((spec) => operationsOf(spec))).toHaveLength(247);
  });

  test('has one operation on each route, aliases included', () => {
    expect(repeated(operations.flatMap(routesOf))).toEqual([]);
  });

  test('names each operation once inside its specification', () => {
    expect(repeated(operations.map(({ spec, id }) => `${spec}.${id}`))).toEqual([]);
  });

  test('files each operation under its own id', () => {
    const misfiled = Object.values(groups).flatMap((group) =>
      Object.entries<Endpoint>(group).filter(([key, { id }]) => key !== id),
    );
    expect(misfiled).toEqual([]);
  });

  test('declares exactly the parameters that the path has', () => {
    for (const { path, params, id } of operations) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
      expect({ id, names: Object.keys(params?.properties ?? {}).sort() }).toEqual({
        id,
        names: inPath.sort(),
      });
    }
  });

  test('has one shape behind each model name of a specification', () => {
    const shapes = new Map<string, string>();
    const clashes = new Set<string>();
    for (const operation of operations) {
      for (const schema of schemasOf(operation).flatMap(named)) {
        const name = `${operation.spec}.${schema.$id}`;
        const shape = JSON.stringify(schema);
        if ((shapes.get(name) ?? shape) !== shape) clashes.add(name);
        shapes.set(name, shape);
      }
    }
    expect([...clashes]).toEqual([]);
    expect(shapes.size).toBeGreaterThan(400);
  });

  test('reads the raw body of every operation that declares parts of it', () => {
    const files = operations.filter(
      ({ body, rawBody }) => !rawBody && JSON.stringify(body)?.includes('"binary"'),
    );
    expect(files).toEqual([]);
  });

  test('has a sentence without a full stop for every operation', () => {
    expect(operations.filter(({ summary }) => !/^[A-Z].+[^.]$/.test(summary))).toEqual([]);
  });
});

function routesOf({ method, path, aliases = [] }: Endpoint): string[] {
  return [{ method, path }, ...aliases].map(
    (route) => `${route.method} ${route.path.replace(/\{\w+\}/g, '{}')}`,
  );
}

function schemasOf({ params, query, headers, body, response, chunk }: Endpoint): TSchema[] {
  return [params, query, headers, body, response, chunk].filter((schema) => schema !== undefined);
}

/** Every schema with a name inside a schema, itself included. */
function named(schema: TSchema): TSchema[] {
  const inner: TSchema[] = [
    ...Object.values<TSchema>(schema.properties ?? {}),
    ...Object.values<TSchema>(schema.patternProperties ?? {}),
    ...(schema.anyOf ?? []),
    ...(schema.items ? [schema.items] : []),
  ];
  return [...(schema.$id ? [schema] : []), ...inner.flatMap(named)];
}

function repeated(names: readonly string[]): string[] {
  return names.filter((name, i) => names.indexOf(name) !== i);
}
