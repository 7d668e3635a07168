import type { Tool } from '@modelcontextprotocol/client';
import { AppError } from '../../../../src/errors/app-error.ts';
import { newId } from '../../../../src/kit/id.ts';
import type { App } from '../../../app.ts';
import type { Connections } from '../connection/connections.ts';
import { serverFailure } from '../connection/failure.ts';
import type { Target } from '../connection/ways.ts';
import type { Checked, ServerStore } from '../servers/store.ts';
import { withoutSecrets } from '../servers/without-secrets.ts';
import type { ToolRow } from '../tables.ts';
import type { ToolStore } from './store.ts';

/** What asking a server for its tools has come to. */
export interface Discovered {
  readonly rows: readonly ToolRow[];
  readonly checked: Checked;
  /** Why it failed. */
  readonly error?: AppError;
}

/** Milliseconds until a server must have listed its tools. */
const LIST_MS = 30_000;
const BETWEEN_MS = 1_000;
const MOST_TOOLS = 1_000;
const MOST_NAME = 256;
const MOST_DESCRIPTION = 32 * 1024;
const MOST_SCHEMA = 64 * 1024;
/** Characters of all that is kept of a server. */
const MOST_KEPT = 2 * 1024 * 1024;

/** Asks servers what they offer. */
export class Discovery {
  /** What is to be asked again, by the id of the server. */
  private readonly waiting = new Map<string, Target>();

  constructor(
    private readonly app: Pick<App, 'clock' | 'db' | 'log'>,
    private readonly stores: { readonly servers: ServerStore; readonly tools: ToolStore },
    private readonly connections: Connections,
  ) {}

  /** Asks a server. That it fails is part of the answer. Nothing is written. */
  async ask(target: Target): Promise<Discovered> {
    try {
      const tools = await this.connections.use(target, (connection) => connection.tools(LIST_MS), {
        discovers: true,
      });
      return { rows: this.rowsOf(target, tools), checked: this.checked(target) };
    } catch (error) {
      const failure = error instanceof AppError ? error : serverFailure(error);
      return { rows: [], checked: this.checked(target, failure), error: failure };
    }
  }

  /** Asks a server and keeps what it says, unless it was changed meanwhile. Tools stay as they are when it fails. */
  async refresh(target: Target): Promise<Discovered> {
    const found = await this.ask(target);
    // That a server cannot be reached while svc stops says nothing of the server.
    if (this.connections.isClosed) return found;
    this.app.db.transaction(() => {
      const row = this.stores.servers.find(target.tenant, target.id);
      if (row?.sealed !== target.revision) return;
      this.stores.servers.note([found.checked]);
      if (!found.error) this.stores.tools.replace(target.tenant, target.id, found.rows);
    });
    return found;
  }

  /** Reads the tools of a server again, beside whatever goes on: one time a second at most, however often it is asked for. */
  soon(target: Target): void {
    const isWaiting = this.waiting.has(target.id);
    this.waiting.set(target.id, target);
    if (!isWaiting) void this.work(target.id);
  }

  private async work(id: string): Promise<void> {
    for (let target = this.waiting.get(id); target; ) {
      const { name: server } = target;
      await this.refresh(target).catch((error) =>
        this.app.log.warn('the tools of a server could not be kept', { server, error }),
      );
      await Bun.sleep(BETWEEN_MS);
      const next = this.waiting.get(id);
      if (next === target) this.waiting.delete(id);
      target = next === target ? undefined : next;
    }
  }

  private checked({ tenant, id, config }: Target, failure?: AppError): Checked {
    return {
      ...{ tenant, id },
      health: failure ? 'unhealthy' : 'healthy',
      healthError: failure ? withoutSecrets(failure.message, config) : null,
      healthCheckedAt: this.app.clock.now(),
    };
  }

  /** What a server says is not trusted: what is too large to be offered is left out. */
  private rowsOf({ tenant, id: serverId, name: server, config }: Target, tools: readonly Tool[]): ToolRow[] {
    const now = this.app.clock.now();
    const plain = (text: string) => withoutSecrets(text, config);
    const byName = new Map(tools.map((tool) => [tool.name, tool]));
    const rows = [...byName.values()].map(
      ({ name, title, description = title ?? '', inputSchema, annotations = {} }): ToolRow => ({
        id: newId('mcp', now),
        ...{ tenant, serverId, name, description: plain(description) },
        inputSchema: plain(JSON.stringify(inputSchema ?? { type: 'object', properties: {} })),
        annotations: plain(JSON.stringify({ ...(title ? { title } : {}), ...annotations })),
        discoveredAt: now,
        lastSeenAt: now,
      }),
    );
    let left = MOST_KEPT;
    const fits = (row: ToolRow) => {
      left -= sizeOf(row);
      return left >= 0;
    };
    const kept = rows.filter(isOfferable).slice(0, MOST_TOOLS).filter(fits);
    if (kept.length < rows.length)
      this.app.log.warn('tools of a server are not offered: there are too many, or they are too large', {
        server,
        count: rows.length - kept.length,
      });
    return kept;
  }
}

function sizeOf({ name, description, inputSchema, annotations }: ToolRow): number {
  return name.length + description.length + inputSchema.length + annotations.length;
}

function isOfferable({ name, description, inputSchema, annotations }: ToolRow): boolean {
  return (
    name !== '' &&
    name.length <= MOST_NAME &&
    description.length <= MOST_DESCRIPTION &&
    inputSchema.length + annotations.length <= MOST_SCHEMA
  );
}
