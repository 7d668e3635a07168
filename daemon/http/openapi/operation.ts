import type { Endpoint, RoutePath } from '../../../src/api/endpoint.ts';
import { type TSchema, t } from '../../../src/api/schema.ts';
import type { Json } from './schema.ts';

/** What an operation is written with. */
export interface OperationContext {
  readonly operationId: string;
  /** The path as the document spells it: its parameters may have other names than the declaration's. */
  readonly path: string;
  readonly write: (schema: TSchema) => Json;
}

const DONE = 'The operation succeeded.';

/** The Operation Object of an operation at one of its places. */
export function operationObject(endpoint: Endpoint, place: RoutePath, context: OperationContext): Json {
  const parameters = parametersOf(endpoint, context);
  const requestBody = place.method === 'GET' ? undefined : requestBodyOf(endpoint, context);
  return {
    operationId: context.operationId,
    tags: [endpoint.tag],
    summary: place === endpoint ? endpoint.summary : `${endpoint.summary}, at another address`,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(requestBody ? { requestBody } : {}),
    responses: { ...success(endpoint, context), default: { $ref: '#/components/responses/Error' } },
    security: securityOf(endpoint),
    'x-svc-access': endpoint.access,
    ...(endpoint.unbuilt ? { 'x-svc-unbuilt': true } : {}),
  };
}

function parametersOf({ path, params, query, headers }: Endpoint, context: OperationContext): Json[] {
  const spelled = namesIn(context.path);
  const inPath = namesIn(path).map((name, i) => {
    const { description, ...schema } = context.write(params?.properties[name] ?? t.String());
    const given = spelled[i] ?? name;
    const note = given === name ? description : `The ${name}.`;
    return { name: given, in: 'path', required: true, ...(note ? { description: note } : {}), schema };
  });
  return [
    ...inPath,
    ...listed('query', query, context, (name) => name),
    ...listed('header', headers, context, headerName),
  ];
}

function listed(
  place: 'query' | 'header',
  fields: Endpoint['query'],
  context: OperationContext,
  spell: (name: string) => string,
): Json[] {
  return Object.entries<TSchema>(fields?.properties ?? {}).map(([name, field]) => {
    const { description, ...schema } = context.write(field);
    return {
      name: spell(name),
      in: place,
      ...(fields?.required?.includes(name) ? { required: true } : {}),
      ...(description === undefined ? {} : { description }),
      ...(field.type === 'object' ? { style: 'deepObject', explode: true } : {}),
      schema,
    };
  });
}

function requestBodyOf({ body, rawBody }: Endpoint, context: OperationContext): Json | undefined {
  if (!body) return undefined;
  const required = body.type === 'array' || (body.required?.length ?? 0) > 0;
  const content = { [rawBody ?? 'application/json']: { schema: context.write(body) } };
  return { ...(required ? { required } : {}), content };
}

function success(endpoint: Endpoint, context: OperationContext): Json {
  if (endpoint.stream === 'websocket')
    return { '101': { description: 'The connection is a WebSocket from here on.' } };
  if (endpoint.status === 204) return { '204': { description: DONE } };
  return { '200': { description: DONE, content: contentOf(endpoint, context.write) } };
}

function contentOf({ response, chunk, stream }: Endpoint, write: OperationContext['write']): Json {
  if (stream === 'sse') return { 'text/event-stream': { schema: write(response) } };
  if (stream === 'bytes') return bytes(response);
  return {
    'application/json': { schema: write(response) },
    ...(chunk ? { 'text/event-stream': { schema: write(chunk) } } : {}),
  };
}

function bytes({ mediaTypes }: TSchema): Json {
  const binary = (type: string) =>
    type.startsWith('text/') ? { type: 'string' } : { type: 'string', format: 'binary' };
  const types: readonly string[] = mediaTypes;
  return Object.fromEntries(types.map((type) => [type, { schema: binary(type) }]));
}

/** Who is let in: a key or a session; stock clients of /compat send the key as a bearer token. */
function securityOf({ access, path }: Endpoint): Json[] {
  if (access === 'public') return [];
  const accepted = [{ ApiKey: [] }, { Session: [] }];
  return path.startsWith('/compat/') ? [{ Bearer: [] }, ...accepted] : accepted;
}

function namesIn(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
}

function headerName(name: string): string {
  return name.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());
}
