import type { Endpoint, RoutePath } from '../../../src/api/endpoint.ts';
import { RpcStatus } from '../../../src/api/status.ts';
import { operationObject } from './operation.ts';
import { type Json, type Naming, schemaWriter } from './schema.ts';

/** An OpenAPI 3.0.3 document. */
export type OpenApiDocument = {
  readonly openapi: '3.0.3';
  readonly info: Json;
  readonly servers: readonly Json[];
  readonly tags: readonly Json[];
  readonly paths: Readonly<Record<string, Json>>;
  readonly components: Json;
};

/** What a document is made from. */
export interface DocumentOptions extends Naming {
  readonly title: string;
  readonly description: string;
  readonly operations: readonly Endpoint[];
  readonly operationId: (endpoint: Endpoint) => string;
  /** Also list the other addresses of operations. */
  readonly aliases?: boolean;
}

/** The version of the API that the documents describe (spec, Versioning). */
export const API_VERSION = '2.8.0';

const SECURITY_SCHEMES = {
  ApiKey: { type: 'apiKey', in: 'header', name: 'x-svc-api-key', description: 'A key of the service: s_...' },
  Bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'The same key, as stock clients send it to /compat/v1.',
  },
  Session: { type: 'apiKey', in: 'cookie', name: 'es_svc_session', description: 'A signed-in browser.' },
};

type SchemeName = keyof typeof SECURITY_SCHEMES;

/** Writes a document. */
export function writeDocument(options: DocumentOptions): OpenApiDocument {
  const writer = schemaWriter(options);
  const error = writer.write(RpcStatus, '');
  const paths = writePaths(options, writer.write);
  return {
    openapi: '3.0.3',
    info: {
      title: options.title,
      version: API_VERSION,
      description: options.description,
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    servers: [{ url: '/', description: 'This instance.' }],
    tags: [...new Set(options.operations.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: writer.schemas,
      responses: {
        Error: { description: 'The operation failed.', content: { 'application/json': { schema: error } } },
      },
      securitySchemes: securitySchemes(paths),
    },
  };
}

function writePaths(options: DocumentOptions, write: ReturnType<typeof schemaWriter>['write']) {
  const paths: Record<string, Json> = {};
  const spelling = new Map<string, string>();
  for (const endpoint of options.operations) {
    for (const [i, place] of placesOf(endpoint, options.aliases).entries()) {
      const path = spelled(place.path, spelling);
      const id = options.operationId(endpoint);
      const operation = operationObject(endpoint, place, {
        operationId: i === 0 ? id : `${id}.alias${i}`,
        path,
        write: (schema) => write(schema, endpoint.spec),
      });
      paths[path] = { ...paths[path], [place.method.toLowerCase()]: operation };
    }
  }
  return paths;
}

/** The schemes that the operations name: one that none uses has no place in a document. */
function securitySchemes(paths: OpenApiDocument['paths']): Json {
  const used = JSON.stringify(paths);
  const names = Object.keys(SECURITY_SCHEMES) as SchemeName[];
  const kept = names.filter((name) => used.includes(`{"${name}":[]}`));
  return Object.fromEntries(kept.map((name) => [name, SECURITY_SCHEMES[name]]));
}

function placesOf(endpoint: Endpoint, aliases = false): readonly RoutePath[] {
  return [endpoint, ...(aliases ? (endpoint.aliases ?? []) : [])];
}

/** OpenAPI forbids two paths that differ in the names of parameters only: the first spelling stands for both. */
function spelled(path: string, known: Map<string, string>): string {
  const shape = path.replace(/\{\w+\}/g, '{}');
  const first = known.get(shape) ?? path;
  known.set(shape, first);
  return first;
}
