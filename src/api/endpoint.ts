import type { Fields, TSchema, Value } from './schema.ts';

/** The 13 published specifications. */
export const SPECS = [
  'agents',
  'api-keys',
  'auth',
  'config',
  'functions',
  'gateway',
  'mcp',
  'memory',
  'compat-agents-rest',
  'compat-agents-rest.source',
  'compat-agents',
  'providers',
  'workflows',
] as const;

/** The name of a published specification. */
export type SpecName = (typeof SPECS)[number];

/** Roles of a tenant's members, weakest first. Each may do what the ones before it may. */
export const ROLES = ['viewer', 'member', 'admin', 'owner'] as const;

/** What a caller may do inside its tenant. */
export type Role = (typeof ROLES)[number];

/** An HTTP method and a path with `{name}` parameters. */
export interface RoutePath {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: `/${string}`;
}

/** One operation of the API, as data. Routes, validation, documents, client and CLI are made from it. */
export interface Endpoint extends RoutePath {
  /** The specification that publishes it; `guide` and `extra` stand outside the 13. */
  readonly spec: SpecName | 'guide' | 'extra';
  /** The operationId. Unique inside its specification. */
  readonly id: string;
  /** The heading it stands under in the reference. */
  readonly tag: string;
  /** One line on what it does. */
  readonly summary: string;
  /** Other addresses of the same operation. */
  readonly aliases?: readonly RoutePath[];
  readonly params?: Fields;
  readonly query?: Fields;
  /** Request headers with a meaning of their own here, beyond the credential. For the reference only. */
  readonly headers?: Fields;
  /** The JSON body; with `rawBody`, its parts as the reference shows them. */
  readonly body?: TSchema;
  /** The body of a 200, or one message of a stream. */
  readonly response: TSchema;
  /** One event of the stream that a caller gets in place of `response` when its body has `stream: true`. */
  readonly chunk?: TSchema;
  /** The status of a success without a body; 200 when absent. */
  readonly status?: 204;
  /** Who may call it: anyone, or a member of the tenant with at least this role. */
  readonly access: 'public' | Role;
  /** How the answer travels when it is not one JSON document. */
  readonly stream?: 'sse' | 'websocket' | 'bytes';
  /** The handler reads `call.request` itself: the body is not JSON, or its very bytes are signed. */
  readonly rawBody?: 'multipart/form-data' | 'application/octet-stream' | 'application/json';
  /** Largest body in bytes; DEFAULT_BODY_LIMIT when absent. */
  readonly bodyLimit?: number;
  /** Its module does not exist yet: it answers 501 (code 12). */
  readonly unbuilt?: true;
}

/** The largest body of an operation that does not say otherwise: 4 MiB. */
export const DEFAULT_BODY_LIMIT = 4 * 1024 * 1024;

/** Declares an operation and keeps its exact types. */
export function endpoint<const E extends Endpoint>(declaration: E): E {
  return declaration;
}

/** Operations that belong together, by operationId. */
export type Group = Readonly<Record<string, Endpoint>>;

/** What a caller sends. */
export interface Input<E extends Endpoint> {
  readonly params: Value<E['params']>;
  readonly query: Value<E['query']>;
  readonly body: Value<E['body']>;
}

/** What a caller receives. */
export type Output<E extends Endpoint> = Value<E['response']>;

/** Fills the `{name}` parts of a path. */
export function fillPath(path: string, params: Readonly<Record<string, unknown>> = {}): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name] ?? '')));
}
