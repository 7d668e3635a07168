import { fail, invalid } from '../../../../src/errors/app-error.ts';
import { newId } from '../../../../src/kit/id.ts';
import type { App } from '../../../app.ts';
import type { Caller } from '../../../http/route.ts';
import type { Connections } from '../connection/connections.ts';
import type { Target } from '../connection/ways.ts';
import type { OAuthStore } from '../oauth/store.ts';
import type { ServerRow, ToolRow } from '../tables.ts';
import type { Discovered, Discovery } from '../tools/discovery.ts';
import { slugOf } from '../tools/names.ts';
import type { ToolStore } from '../tools/store.ts';
import { readConfig, readFilter, type ServerConfig, type WantedServer } from './config.ts';
import type { ServerStore } from './store.ts';

/** A server with its configuration, opened. */
export interface KnownServer {
  readonly row: ServerRow;
  readonly config: ServerConfig;
  readonly toolCount: number;
}

/** What the service stands on. */
export interface ServerParts {
  readonly store: ServerStore;
  readonly tools: ToolStore;
  readonly tokens: OAuthStore;
  readonly discovery: Discovery;
  readonly connections: Connections;
}

const MOST_SERVERS = 100;
const MOST_NAME = 64;

/** Keeps the tool servers of tenants. */
export class ServerService {
  constructor(
    private readonly app: Pick<App, 'db' | 'clock' | 'audit' | 'secrets'>,
    private readonly parts: ServerParts,
  ) {}

  list(tenant: string, enabledOnly: boolean): KnownServer[] {
    const counts = this.parts.tools.counts(tenant);
    return this.parts.store
      .list(tenant, enabledOnly)
      .map((row) => ({ row, config: this.open(row), toolCount: counts.get(row.id) ?? 0 }));
  }

  /** A server by its id or name. Errors: not_found naming it, also for another tenant's. */
  get(tenant: string, idOrName: string): KnownServer {
    const { store, tools } = this.parts;
    const row = store.find(tenant, idOrName) ?? store.findByName(tenant, idOrName);
    if (!row) throw fail('not_found', { what: 'MCP server', id: idOrName });
    return { row, config: this.open(row), toolCount: tools.list(tenant, row.id).length };
  }

  /** A server that may be called. Errors: not_found, the same for one that is disabled. */
  getEnabled(tenant: string, idOrName: string): KnownServer {
    const known = this.get(tenant, idOrName);
    if (!known.row.enabled) throw fail('not_found', { what: 'MCP server', id: idOrName });
    return known;
  }

  /**
   * Registers a server and asks it for its tools. One that cannot be reached is registered, unhealthy, without tools.
   * Errors: invalid_argument naming the field, already_exists (name), resource_exhausted, outbound_refused.
   */
  async register(caller: Caller, wanted: WantedServer): Promise<{ server: KnownServer; tools: ToolRow[] }> {
    const { tenant, actor } = caller;
    const now = this.app.clock.now();
    const id = newId('mcp', now);
    const config = readConfig(wanted);
    const row: ServerRow = {
      ...{ id, tenant, createdAt: now, updatedAt: now },
      ...this.named(wanted.name ?? ''),
      ...this.fieldsOf(tenant, id, config),
      ...{ toolFilter: filterText(wanted), enabled: wanted.enabled ?? true },
      ...{ health: 'unknown', healthError: null, healthCheckedAt: null },
    };
    this.refuseTaken(row);
    const found = row.enabled ? await this.found(this.targetOf(row, config)) : undefined;
    this.app.db.transaction(() => {
      this.refuseTaken(row);
      this.parts.store.insert(row);
      if (found) this.keep(row, found);
      const details = { name: row.name, transport: row.transport };
      this.app.audit.record({ tenant, actor, action: 'mcp_server.register', target: id, details });
    });
    return { server: this.get(tenant, id), tools: this.parts.tools.list(tenant, id) };
  }

  /**
   * Changes what is sent of a server; one that is somewhere else now is asked for its tools first. Errors: as `register`,
   * not_found, busy (it was changed meanwhile).
   */
  async update({ tenant, actor }: Caller, idOrName: string, wanted: WantedServer): Promise<KnownServer> {
    const { row: old, config: earlier } = this.get(tenant, idOrName);
    const config = readConfig(wanted, earlier);
    const isMoved = JSON.stringify(config) !== JSON.stringify(earlier);
    const isElsewhere = isMoved && leadsElsewhere(earlier, config);
    const row: ServerRow = {
      ...old,
      ...(wanted.name === undefined ? {} : this.named(wanted.name)),
      ...(isMoved ? this.fieldsOf(tenant, old.id, config) : {}),
      toolFilter: wanted.toolFilter === undefined ? old.toolFilter : filterText(wanted),
      enabled: wanted.enabled ?? old.enabled,
      updatedAt: this.app.clock.now(),
    };
    this.refuseTaken(row);
    const isAsked = row.enabled && (isMoved || !old.enabled);
    const found = isAsked ? await this.foundFor(row, config, isElsewhere) : undefined;
    this.app.db.transaction(() => {
      this.refuseChanged(old);
      this.refuseTaken(row);
      this.parts.store.change(tenant, old.id, row);
      if (isElsewhere) this.forget(row);
      if (found) this.keep(row, found);
      const details = { fields: Object.keys(wanted).filter((name) => name !== 'tenantId') };
      this.app.audit.record({ tenant, actor, action: 'mcp_server.update', target: old.id, details });
    });
    if (isElsewhere || !row.enabled) this.parts.connections.end(old.id);
    return this.get(tenant, old.id);
  }

  /** Removes a server with its tools and credentials, and ends what is connected to it. Errors: not_found. */
  remove({ tenant, actor }: Caller, idOrName: string): void {
    const { row } = this.get(tenant, idOrName);
    this.app.db.transaction(() => {
      this.parts.store.remove(tenant, row.id);
      const details = { name: row.name };
      this.app.audit.record({ tenant, actor, action: 'mcp_server.delete', target: row.id, details });
    });
    this.parts.connections.end(row.id);
  }

  /** A server as it is to be connected to. */
  targetOf({ id, tenant, name, sealed: revision }: ServerRow, config: ServerConfig): Target {
    return { id, tenant, name, revision, config };
  }

  /** The configuration of a row. */
  open(row: ServerRow): ServerConfig {
    return JSON.parse(this.app.secrets.open(row.tenant, row.id, row.sealed)) as ServerConfig;
  }

  /** What a server says that is to be another. One at another place is asked as a stranger: tokens of the old one do not go there. */
  private async foundFor(row: ServerRow, config: ServerConfig, isElsewhere: boolean): Promise<Discovered> {
    const target = this.targetOf(row, config);
    if (!isElsewhere) return this.found(target);
    const stranger = { ...target, id: newId('mcp') };
    try {
      return await this.found(stranger);
    } finally {
      this.parts.connections.end(stranger.id);
    }
  }

  private keep({ tenant, id }: ServerRow, { checked, rows, error }: Discovered): void {
    this.parts.store.note([{ ...checked, id }]);
    const own = rows.map((row) => ({ ...row, serverId: id }));
    if (!error) this.parts.tools.replace(tenant, id, own);
  }

  private refuseChanged({ tenant, id, sealed, updatedAt }: ServerRow): void {
    const now = this.parts.store.find(tenant, id);
    if (!now) throw fail('not_found', { what: 'MCP server', id });
    if (now.sealed !== sealed || now.updatedAt !== updatedAt)
      throw fail('busy', { message: 'The MCP server was changed meanwhile. Try again.' });
  }

  private async found(target: Target): Promise<Discovered> {
    const found = await this.parts.discovery.ask(target);
    if (!found.error || !REFUSALS.has(found.error.code)) return found;
    this.parts.connections.end(target.id);
    throw found.error;
  }

  private fieldsOf(tenant: string, id: string, config: ServerConfig) {
    const { transport, url, auth } = config;
    const sealed = this.app.secrets.seal(tenant, id, JSON.stringify(config));
    return { transport, url, auth: auth.kind, sealed };
  }

  private named(name: string): { name: string; slug: string } {
    if (name === '' || name.length > MOST_NAME || /[\p{Cc}\p{Cf}]/u.test(name) || name.trim() !== name)
      throw invalid({ field: 'name', description: `must be 1 to ${MOST_NAME} visible characters` });
    return { name, slug: slugOf(name) };
  }

  private refuseTaken({ tenant, id, name, slug }: ServerRow): void {
    const other = this.parts.store.findByName(tenant, name) ?? this.parts.store.findBySlug(tenant, slug);
    if (other && other.id !== id) throw fail('already_exists', { what: 'MCP server', id: other.name });
    if (!other && this.parts.store.count(tenant) >= MOST_SERVERS && !this.parts.store.find(tenant, id))
      throw fail('resource_exhausted', { message: `A tenant has at most ${MOST_SERVERS} MCP servers.` });
  }

  /** What was learnt at another place does not hold here. */
  private forget({ tenant, id }: ServerRow): void {
    this.parts.tools.replace(tenant, id, []);
    this.parts.tokens.forgetTokens(tenant, id);
    this.parts.store.change(tenant, id, { health: 'unknown', healthError: null, healthCheckedAt: null });
  }
}

/** Failures that are the fault of the request, not of the server. */
const REFUSALS: ReadonlySet<string> = new Set([
  'outbound_refused',
  'invalid_argument',
  'sandbox_not_found',
  'resource_exhausted',
]);

function filterText({ toolFilter }: WantedServer): string | null {
  const filter = readFilter(toolFilter);
  return filter ? JSON.stringify(filter) : null;
}

/** Whether it is another server, or another client of its authorization server. */
function leadsElsewhere(before: ServerConfig, after: ServerConfig): boolean {
  const place = ({ transport, url, auth, stdio }: ServerConfig) =>
    JSON.stringify([
      transport,
      url,
      auth.kind === 'oauth2' ? [auth.clientId, auth.tokenUrl, auth.grant, auth.scopes] : auth.kind,
      stdio && [stdio.command, stdio.args, stdio.image, stdio.sandboxId],
    ]);
  return place(before) !== place(after);
}
