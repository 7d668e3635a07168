import { AppError, fail } from '../../../../src/errors/app-error.ts';
import { newId } from '../../../../src/kit/id.ts';
import type { App } from '../../../app.ts';
import type { Connections } from '../connection/connections.ts';
import { serverFailure } from '../connection/failure.ts';
import { type FederatedTool, type McpOutcome, type McpTools, TOOL_PREFIX } from '../face.ts';
import type { ToolFilter } from '../servers/config.ts';
import type { ServerService } from '../servers/service.ts';
import type { ServerStore } from '../servers/store.ts';
import { withoutSecrets } from '../servers/without-secrets.ts';
import type { ServerRow, ToolRow } from '../tables.ts';
import type { Discovery } from './discovery.ts';
import { federatedDescription, federatedName, passes } from './names.ts';
import { failureText, outputOf } from './output.ts';
import type { ToolStore } from './store.ts';

/** A tool that may be called, with the server that has it. */
export interface OfferedTool extends FederatedTool {
  readonly server: ServerRow;
  readonly row: ToolRow;
}

/** How a call of a tool has ended. */
export interface CallResult {
  readonly id: string;
  readonly serverId: string;
  readonly toolName: string;
  readonly status: 'success' | 'error' | 'timeout';
  readonly output: string;
  /** Why it failed; empty when it did not. */
  readonly error: string;
  readonly latencyMs: number;
  readonly createdAt: number;
}

/** Which federated tools are meant. */
export interface ToolQuery {
  readonly serverIds?: readonly string[];
  readonly namePrefix?: string;
}

/** What the service stands on. */
export interface ToolParts {
  readonly servers: ServerService;
  readonly serverStore: ServerStore;
  readonly store: ToolStore;
  readonly discovery: Discovery;
  readonly connections: Connections;
}

type Arguments = Readonly<Record<string, unknown>>;

/** Most calls of one tenant at once. */
const MOST_CALLS = 128;

/** Lists and calls the tools of servers. */
export class ToolService implements McpTools {
  private readonly running = new Map<string, number>();

  constructor(
    private readonly app: Pick<App, 'clock' | 'config'>,
    private readonly parts: ToolParts,
  ) {}

  list(tenant: string): readonly FederatedTool[] {
    return this.offered(tenant).map(federated);
  }

  find(tenant: string, name: string): FederatedTool | undefined {
    const found = this.lookUp(tenant, name);
    return found && federated(offer(found.server, found.row));
  }

  /** The tools of the servers that are enabled, by server and name. Of two that would have one name the first is offered. */
  offered(tenant: string, { serverIds = [], namePrefix = '' }: ToolQuery = {}): OfferedTool[] {
    const servers = this.parts.serverStore.list(tenant, true);
    const rows = Map.groupBy(
      this.parts.store.listOf(
        tenant,
        servers.map(({ id }) => id),
      ),
      ({ serverId }) => serverId,
    );
    const byName = new Map<string, OfferedTool>();
    for (const server of servers)
      for (const row of (rows.get(server.id) ?? []).filter(({ name }) => passes(filterOf(server), name))) {
        const tool = offer(server, row);
        if (!byName.has(tool.name)) byName.set(tool.name, tool);
      }
    const isWanted = ({ server, name }: OfferedTool) =>
      (serverIds.length === 0 || serverIds.includes(server.id) || serverIds.includes(server.name)) &&
      name.startsWith(namePrefix);
    return [...byName.values()].filter(isWanted);
  }

  /** Asks a server for its tools. Errors: not_found; failed_precondition when it is disabled; those of reaching it. */
  async discover(tenant: string, idOrName: string): Promise<ToolRow[]> {
    const { row, config } = this.parts.servers.get(tenant, idOrName);
    if (!row.enabled)
      throw fail('failed_precondition', { message: `The MCP server ${row.name} is disabled.` });
    const { error } = await this.parts.discovery.refresh(this.parts.servers.targetOf(row, config));
    if (error) throw error;
    return this.parts.store.list(tenant, row.id);
  }

  async call(tenant: string, name: string, args: Arguments, signal: AbortSignal): Promise<McpOutcome> {
    const found = this.findFederated(tenant, name);
    const { status, output } = await this.run(found.server, found.row, args, signal);
    return { ok: status === 'success', output };
  }

  /**
   * Calls a tool of a server, by its own name or its federated one. How the server or the tool fails is the result. Errors:
   * not_found naming the server (missing, foreign, disabled) or the tool (missing, not offered); resource_exhausted; cancelled.
   */
  async callOf(
    tenant: string,
    serverId: string | undefined,
    toolName: string,
    args: Arguments,
    signal: AbortSignal,
  ): Promise<CallResult> {
    if (!serverId) {
      const { server, row } = this.findFederated(tenant, toolName);
      return this.run(server, row, args, signal);
    }
    const { row: server } = this.parts.servers.getEnabled(tenant, serverId);
    const own = ownName(server, toolName);
    const row = this.parts.store.find(tenant, server.id, own);
    if (!row || !passes(filterOf(server), own)) throw fail('not_found', { what: 'tool', id: toolName });
    return this.run(server, row, args, signal);
  }

  private findFederated(tenant: string, name: string): Pick<OfferedTool, 'server' | 'row'> {
    const found = this.lookUp(tenant, name);
    if (!found) throw fail('not_found', { what: 'tool', id: name });
    return found;
  }

  /** The tool that `offered` shows under a name. */
  private lookUp(tenant: string, name: string): Pick<OfferedTool, 'server' | 'row'> | undefined {
    for (const server of this.parts.serverStore.list(tenant, true)) {
      const own = ownName(server, name);
      const row = own === name ? undefined : this.parts.store.find(tenant, server.id, own);
      if (row && passes(filterOf(server), own)) return { server, row };
    }
    return undefined;
  }

  private async run(
    server: ServerRow,
    tool: ToolRow,
    args: Arguments,
    signal: AbortSignal,
  ): Promise<CallResult> {
    const createdAt = this.app.clock.now();
    const began = performance.now();
    const head = { id: newId('call', createdAt), serverId: server.id, toolName: tool.name, createdAt };
    const ended = (end: Pick<CallResult, 'status' | 'output' | 'error'>): CallResult => ({
      ...head,
      ...end,
      latencyMs: Math.round(performance.now() - began),
    });
    this.enter(server.tenant);
    try {
      return ended(await this.answer(server, tool, args, signal));
    } catch (error) {
      if (signal.aborted) throw fail('cancelled');
      const failure = error instanceof AppError ? error : serverFailure(error);
      const status = failure.code === 'upstream_timeout' ? 'timeout' : 'error';
      const words = withoutSecrets(failure.message, this.parts.servers.open(server));
      return ended({ status, output: failureText(words), error: words });
    } finally {
      this.leave(server.tenant);
    }
  }

  private enter(tenant: string): void {
    const now = this.running.get(tenant) ?? 0;
    if (now >= MOST_CALLS)
      throw fail('resource_exhausted', { message: `${MOST_CALLS} calls of MCP tools run already.` });
    this.running.set(tenant, now + 1);
  }

  private leave(tenant: string): void {
    const left = (this.running.get(tenant) ?? 1) - 1;
    if (left > 0) this.running.set(tenant, left);
    else this.running.delete(tenant);
  }

  private async answer(server: ServerRow, tool: ToolRow, args: Arguments, signal: AbortSignal) {
    const config = this.parts.servers.open(server);
    const target = this.parts.servers.targetOf(server, config);
    const inputSchema = JSON.parse(tool.inputSchema) as Record<string, unknown>;
    const timeoutMs = this.app.config.get('mcp.call_timeout');
    const call = { name: tool.name, args, inputSchema, timeoutMs, signal };
    const work = this.parts.connections.use(target, (connection) => connection.call(call));
    const result = await unlessAborted(work, signal);
    const text = withoutSecrets(outputOf(result), config);
    return result.isError
      ? { status: 'error' as const, output: failureText(text), error: text }
      : { status: 'success' as const, output: text, error: '' };
  }
}

/** The tools that a server lets through; all when it has no filter. */
function filterOf({ toolFilter }: ServerRow): ToolFilter | undefined {
  return toolFilter === null ? undefined : (JSON.parse(toolFilter) as ToolFilter);
}

function offer(server: ServerRow, row: ToolRow): OfferedTool {
  return {
    ...{ server, row },
    name: federatedName(server.slug, row.name),
    description: federatedDescription(server.name, row.description),
    inputSchema: JSON.parse(row.inputSchema) as Record<string, unknown>,
  };
}

const federated = ({ name, description, inputSchema }: FederatedTool): FederatedTool => ({
  name,
  description,
  inputSchema,
});

function ownName({ slug }: ServerRow, name: string): string {
  const prefix = `${TOOL_PREFIX}${slug}__`;
  return name.startsWith(prefix) ? name.slice(prefix.length) : name;
}

/** Who leaves need not wait until the server is reached; what was reached stays for the next. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const leave = () => reject(fail('cancelled'));
  if (signal.aborted) leave();
  signal.addEventListener('abort', leave, { once: true });
  work.catch(() => undefined);
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', leave));
}
