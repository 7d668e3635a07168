import { describe, expect, test } from 'bun:test';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { SPECS, type SpecName } from '../../src/api/endpoint.ts';
import { operations, operationsOf } from '../../src/api/index.ts';
import { dereference } from './openapi/dereference.ts';
import type { OpenApiDocument } from './openapi/document.ts';
import type { Json } from './openapi/schema.ts';
import { indexDocument, specDocument } from './openapi.ts';

const DOCUMENTS: ReadonlyArray<[string, () => OpenApiDocument]> = [
  ['the index', indexDocument],
  ...SPECS.map((spec): [string, () => OpenApiDocument] => [spec, () => specDocument(spec)]),
];

/** Redocly's recommended rules, warnings counted as errors, without the three that the published API excludes. */
const lintConfig = createConfig({
  extends: ['recommended-strict'],
  rules: {
    // The published paths are ambiguous by themselves: /v1/sandbox/{sandboxId}/stop and /v1/sandbox/instances/{sandboxId}.
    'no-ambiguous-paths': 'off',
    // All errors have one shape, published as the default response of every operation.
    'operation-4xx-response': 'off',
    // A tag is the heading of a group in the reference; its operations say what they do.
    'tag-description': 'off',
  },
});

describe.each(DOCUMENTS)('the document of %s', (name, make) => {
  test('passes the linter without an error or a warning', async () => {
    const source = JSON.stringify(make());
    const problems = await lintFromString({ source, absoluteRef: `/${name}.json`, config: await lintConfig });
    expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual(
      [],
    );
  });

  test('is OpenAPI 3.0.3 of API version 2.8.0', () => {
    const { openapi, info } = make();
    expect([openapi, info.version]).toEqual(['3.0.3', '2.8.0']);
  });

  test('gives each operation an id of its own', () => {
    const ids = operationsIn(make()).map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('holds no construct of JSON Schema that OpenAPI 3.0 lacks', () => {
    const foreign = ['const', 'patternProperties', '$id', 'mediaTypes'];
    const found = objectsIn(make()).filter(
      (part) => foreign.some((key) => key in part && !isPropertyMap(part)) || part.type === 'null',
    );
    expect(found).toEqual([]);
  });
});

describe('the specifications', () => {
  test.each(SPECS.map((spec) => [spec] as const))('%s holds its operations and no others', (spec) => {
    const ids = operationsIn(specDocument(spec)).map(({ operationId }) => operationId);
    expect(ids.sort()).toEqual(
      operationsOf(spec)
        .map(({ id }): unknown => id)
        .sort(),
    );
  });

  test('hold 247 operations in all', () => {
    expect(SPECS.flatMap((spec) => operationsIn(specDocument(spec)))).toHaveLength(247);
  });

  test('compat-agents-rest is its source with every reference resolved', () => {
    const resolved = specDocument('compat-agents-rest');
    const source = specDocument('compat-agents-rest.source');
    expect(JSON.stringify(resolved)).not.toContain('$ref');
    expect(JSON.stringify(source.paths)).toContain('#/components/schemas/');
    expect(resolved.paths).toEqual(dereference(source).paths);
  });

  test('are made once', () => {
    expect(specDocument('agents')).toBe(specDocument('agents'));
    expect(indexDocument()).toBe(indexDocument());
  });
});

describe('the index', () => {
  test('holds every operation of the contract, and its other addresses', () => {
    const places = operations.flatMap(({ aliases = [] }) => [0, ...aliases]);
    expect(operationsIn(indexDocument())).toHaveLength(places.length);
  });

  test('puts the specification before names that several have', () => {
    const ids = operationsIn(indexDocument()).map(({ operationId }) => operationId);
    expect(ids).toEqual(
      expect.arrayContaining(['agents.CreateAgent', 'compat-agents.CreateAgent', 'CreateSandbox']),
    );
  });

  test('marks what is not built', () => {
    const marked = operationsIn(indexDocument()).filter((operation) => operation['x-svc-unbuilt'] === true);
    const unbuilt = operations.filter((operation) => operation.unbuilt);
    expect(marked).toHaveLength(unbuilt.length);
  });
});

describe('an operation', () => {
  test.each([
    ['CreateSandbox', [{ ApiKey: [] }, { Session: [] }]],
    ['ChatCompletion', [{ Bearer: [] }, { ApiKey: [] }, { Session: [] }]],
    ['Login', []],
  ])('%s asks for its credentials', (id, security) => {
    expect(operationOf(id).security).toEqual(security);
  });

  test('that streams answers server-sent events', () => {
    expect(contentTypes('ExecuteCommand')).toEqual(['text/event-stream']);
    expect(contentTypes('ChatCompletion')).toEqual(['application/json', 'text/event-stream']);
  });

  test('that answers bytes names their media types', () => {
    expect(contentTypes('TakeScreenshot')).toEqual(['image/jpeg', 'image/png']);
  });

  test('that opens a WebSocket answers 101', () => {
    expect(Object.keys(operationOf('SandboxPty').responses as Json)).toEqual(['101', 'default']);
  });

  test('that takes files has a multipart body', () => {
    const { content } = operationOf('UploadFile').requestBody as Json;
    expect(Object.keys(content as Json)).toEqual(['multipart/form-data']);
  });

  test('with repeated and nested query fields says how they are spelled', () => {
    const { parameters } = specOperation('compat-agents-rest', 'ListSessions');
    expect(parameters).toContainEqual(expect.objectContaining({ name: 'metadata', style: 'deepObject' }));
  });
});

function operationsIn({ paths }: OpenApiDocument): Json[] {
  return Object.values(paths).flatMap((item) => Object.values(item) as Json[]);
}

function operationOf(id: string): Json {
  return operationsIn(indexDocument()).find(({ operationId }) => operationId === id) ?? {};
}

function specOperation(spec: SpecName, id: string): Json {
  return operationsIn(specDocument(spec)).find(({ operationId }) => operationId === id) ?? {};
}

function contentTypes(id: string): string[] {
  const { '200': success } = operationOf(id).responses as Record<string, Json>;
  return Object.keys((success?.content as Json) ?? {});
}

function objectsIn(value: unknown): Json[] {
  if (Array.isArray(value)) return value.flatMap(objectsIn);
  if (typeof value !== 'object' || value === null) return [];
  return [value as Json, ...Object.values(value).flatMap(objectsIn)];
}

/** Whether an object holds schemas by field name, so that its keys are no keywords. */
function isPropertyMap(part: Json): boolean {
  return Object.values(part).every((inner) => typeof inner === 'object' && inner !== null);
}
