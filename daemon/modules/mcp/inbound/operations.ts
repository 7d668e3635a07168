import { type Endpoint, fillPath, type Input, type Output, ROLES } from '../../../../src/api/endpoint.ts';
import type { TSchema } from '../../../../src/api/schema.ts';
import { fail } from '../../../../src/errors/app-error.ts';
import { newId } from '../../../../src/kit/id.ts';
import type { Call, Caller, Route } from '../../../http/route.ts';
import { type Validator, validator } from '../../../http/validate.ts';

/** Who calls an operation from inside, and on behalf of which request. */
export interface Inner {
  readonly caller: Caller;
  readonly signal: AbortSignal;
  readonly request: Request;
}

/** What an operation is called with; `raw` is the body of one that reads bytes. */
export type InnerInput<E extends Endpoint> = Partial<Input<E>> & { readonly raw?: string };

/** Headers that say where this instance was reached: links are made of them. */
const PASSED = ['host', 'x-forwarded-proto', 'x-forwarded-host', 'user-agent'];

/** Calls operations of the contract in this process: the same checks of role and input, the same handlers. */
export class Operations {
  private readonly byEndpoint = new Map<Endpoint, Route>();
  private readonly validators = new Map<TSchema, Validator>();

  constructor(private readonly routes: () => readonly Route[]) {}

  /** What an operation answers. Errors: forbidden, invalid_argument naming the field, and the operation's own. */
  async call<E extends Endpoint>(endpoint: E, input: InnerInput<E>, inner: Inner): Promise<Output<E>> {
    const value = await this.run(endpoint, input, inner);
    return (value instanceof Response ? await value.json() : value) as Output<E>;
  }

  /** What an operation answers that answers bytes or events. Errors: as `call`. */
  async respond<E extends Endpoint>(endpoint: E, input: InnerInput<E>, inner: Inner): Promise<Response> {
    const value = await this.run(endpoint, input, inner);
    return value instanceof Response ? value : Response.json(value);
  }

  private async run<E extends Endpoint>(endpoint: E, input: InnerInput<E>, inner: Inner): Promise<unknown> {
    const { caller, signal } = inner;
    if (ROLES.indexOf(caller.role) < ROLES.indexOf(endpoint.access as Caller['role']))
      throw fail('forbidden', { need: endpoint.access });
    const route = this.routeOf(endpoint);
    if (!route) throw fail('not_built', { operation: endpoint.id });
    const dialect = endpoint.path.startsWith('/compat/') ? 'compat' : 'native';
    const body = endpoint.rawBody ? undefined : endpoint.body;
    const call = {
      params: this.check(endpoint.params, input.params ?? {}, 'query'),
      query: this.check(endpoint.query, input.query ?? {}, 'query'),
      body: this.check(body, input.body ?? {}, dialect),
      ...{ caller, signal, peer: '', headers: new Headers() },
      requestId: newId('req'),
      request: innerRequest(endpoint, input, inner),
    };
    return route.handle(call as unknown as Call);
  }

  private routeOf(endpoint: Endpoint): Route | undefined {
    if (this.byEndpoint.size === 0)
      for (const route of this.routes()) this.byEndpoint.set(route.endpoint, route);
    return this.byEndpoint.get(endpoint);
  }

  private check(
    schema: TSchema | undefined,
    value: unknown,
    dialect: 'query' | 'native' | 'compat',
  ): unknown {
    if (!schema) return {};
    const known = this.validators.get(schema) ?? validator(schema, dialect);
    this.validators.set(schema, known);
    return known.check(value);
  }
}

/** The request that an operation would have come with. */
function innerRequest<E extends Endpoint>(
  { method, path }: E,
  { params, raw }: InnerInput<E>,
  { request }: Inner,
): Request {
  const url = new URL(fillPath(path, params as Record<string, unknown> | undefined), request.url);
  const headers = new Headers();
  for (const name of PASSED) {
    const value = request.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  return new Request(url, { method, headers, body: method === 'GET' ? undefined : raw });
}
