import { ROLES } from '../../../../src/api/endpoint.ts';
import { asAppError, fail } from '../../../../src/errors/app-error.ts';
import type { Caller } from '../../../http/route.ts';
import { type ArgumentSchema, argumentSchema } from '../../../json-schema/argument-schema.ts';
import type { Log } from '../../../log/log.ts';
import type { InboundTool } from '../face.ts';
import {
  GREETING,
  type Message,
  RPC,
  RpcFailure,
  readMessage,
  revisionOf,
  STATELESS,
  USUAL,
} from './protocol.ts';

/** One message to /mcp. */
export interface Visit {
  readonly caller: Caller;
  readonly body: unknown;
  readonly request: Request;
  readonly signal: AbortSignal;
}

/** What is answered: a JSON document, or nothing at all to a notification. */
export interface Answer {
  readonly status: number;
  readonly body?: object;
}

/** What the server stands on. */
export interface InboundParts {
  readonly version: string;
  readonly log: Log;
  readonly tools: () => readonly InboundTool[];
  /** Whether a tenant lets a tool be called. */
  readonly isOn: (tenant: string, tool: string) => boolean;
  /** The tools that a tenant has switched. */
  readonly switches: (tenant: string) => ReadonlyMap<string, boolean>;
}

const INSTRUCTIONS =
  'Sandboxes to run code in, models to ask, memory to keep things in. Make a sandbox before running commands, and terminate it afterwards.';
const ACCEPTED = 202;

/** This service as an MCP server: without sessions, in every revision of the protocol (spec, MCP, inbound). */
export class InboundServer {
  private readonly schemas = new WeakMap<InboundTool, ArgumentSchema>();

  constructor(private readonly parts: InboundParts) {}

  /** Answers one message. */
  async answer(visit: Visit): Promise<Answer> {
    let id: string | number | null = null;
    try {
      id = idOf(visit.body);
      const message = readMessage(visit.body);
      const revision = message && revisionOf(message, visit.request.headers);
      if (message?.id === undefined) return { status: ACCEPTED };
      const result = await this.result(message, revision, visit);
      return { status: 200, body: { jsonrpc: '2.0', id, result } };
    } catch (error) {
      const { code, message, status, data } = this.failure(error);
      const body = { code, message, ...(data === undefined ? {} : { data }) };
      return { status, body: { jsonrpc: '2.0', id, error: body } };
    }
  }

  private async result(message: Message, revision: string | undefined, visit: Visit): Promise<object> {
    const isStateless = revision === STATELESS;
    const { method, params } = message;
    if (method === 'tools/call') return this.dressed(await this.call(params, visit), isStateless, false);
    if (method === 'tools/list') return this.dressed({ tools: this.list(visit.caller) }, isStateless, true);
    if (isStateless) {
      if (method === 'server/discover') return this.dressed(DISCOVERED, true, true);
      throw new RpcFailure(RPC.methodNotFound, `There is no method ${method}.`, 404);
    }
    if (method === 'ping') return {};
    if (method === 'initialize') return this.greeting(params);
    throw new RpcFailure(RPC.methodNotFound, `There is no method ${method}.`, 200);
  }

  private greeting({ protocolVersion }: Message['params']): object {
    const known = GREETING.find((version) => version === protocolVersion);
    return {
      protocolVersion: known ?? USUAL,
      capabilities: { tools: {} },
      serverInfo: this.info,
      instructions: INSTRUCTIONS,
    };
  }

  /** In the stateless revision a result says that it is complete, and how long it may be kept. */
  private dressed(result: object, isStateless: boolean, isKept: boolean): object {
    if (!isStateless) return result;
    return {
      ...result,
      resultType: 'complete',
      ...(isKept ? { ttlMs: 0, cacheScope: 'private' } : {}),
      _meta: { 'io.modelcontextprotocol/serverInfo': this.info },
    };
  }

  /** What the caller may use: tools that are on, for its role. */
  private list({ tenant, role }: Caller): object[] {
    const switches = this.parts.switches(tenant);
    return this.parts
      .tools()
      .filter((tool) => switches.get(tool.name) !== false && mayUse(role, tool))
      .map(({ name, description, inputSchema, effect }) => ({
        ...{ name, description, inputSchema },
        annotations: {
          readOnlyHint: effect === 'reads',
          ...(effect === 'reads' ? {} : { destructiveHint: effect === 'destroys' }),
        },
      }));
  }

  /** A tool that fails is a result, for the model to read; one that is not offered is an error of the call. */
  private async call({ name, arguments: given = {} }: Message['params'], visit: Visit): Promise<object> {
    const { caller, signal, request } = visit;
    const tool = this.parts.tools().find((one) => one.name === name);
    if (!tool || !this.parts.isOn(caller.tenant, tool.name))
      throw new RpcFailure(RPC.invalidParams, `There is no tool ${String(name).slice(0, 100)}.`, 200);
    if (typeof given !== 'object' || given === null || Array.isArray(given))
      throw new RpcFailure(RPC.invalidParams, 'The arguments of a tool are an object.', 200);
    const args = given as Readonly<Record<string, unknown>>;
    try {
      if (!mayUse(caller.role, tool)) throw fail('forbidden', { need: tool.access });
      const problems = this.schemaOf(tool).check(args, '');
      if (problems.length > 0) return failed(problems.map(words).join('\n'));
      return { content: [textBlock(await tool.run(caller, args, signal, request))] };
    } catch (error) {
      const known = asAppError(error);
      if (known !== error) this.parts.log.error('a tool at /mcp failed', { tool: tool.name, error });
      const lines = [known.message, ...known.violations.slice(1).map(words), known.hint ?? ''];
      return failed(lines.filter((line) => line !== '').join('\n'));
    }
  }

  private schemaOf(tool: InboundTool): ArgumentSchema {
    const known = this.schemas.get(tool) ?? argumentSchema(tool.inputSchema, tool.name);
    this.schemas.set(tool, known);
    return known;
  }

  private failure(error: unknown): RpcFailure {
    if (error instanceof RpcFailure) return error;
    this.parts.log.error('a message to /mcp failed', { error });
    return new RpcFailure(RPC.internal, 'Something went wrong inside svc.', 500);
  }

  private get info() {
    return { name: 'svc', version: this.parts.version };
  }
}

const DISCOVERED = {
  supportedVersions: [STATELESS],
  capabilities: { tools: {} },
  instructions: INSTRUCTIONS,
};

function mayUse(role: Caller['role'], { access }: InboundTool): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(access);
}

/** The id of a message, also of one that is not well formed, so that its sender finds the answer. */
function idOf(body: unknown): string | number | null {
  if (typeof body !== 'object' || body === null || !('id' in body)) return null;
  const { id } = body;
  return typeof id === 'string' || Number.isInteger(id) ? (id as string | number) : null;
}

function textBlock(value: unknown) {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? null);
  return { type: 'text' as const, text };
}

function failed(text: string) {
  return { content: [textBlock(text)], isError: true };
}

function words({ field, description }: { field: string; description: string }): string {
  return `${field.replace(/^\./, '')}: ${description}`;
}
