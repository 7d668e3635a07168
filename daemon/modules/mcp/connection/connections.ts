import { fail } from '../../../../src/errors/app-error.ts';
import { Connection } from './connection.ts';
import { serverFailure, statusOf } from './failure.ts';
import { type Target, type WayParts, wayTo } from './ways.ts';

/** What connections are made with. */
export interface ConnectionParts extends WayParts {
  readonly version: string;
  /** How long a program may be unused, in milliseconds. */
  readonly idleMs: () => number;
  /** Most programs of one tenant at once. */
  readonly mostPrograms: () => number;
  /** Told when a server was reached anew, or says that its tools are others. */
  readonly onNews: (target: Target) => void;
}

interface Held {
  readonly target: Target;
  readonly opening: Promise<Connection>;
  readonly leaving: AbortController;
  users: number;
  lastUsed: number;
  timer?: Timer;
}

/** How a connection is used. */
export interface Use {
  /** This use reads the tools itself: they need not be read for a new connection. */
  readonly discovers?: true;
  /** Does not keep a program from being ended for want of use. */
  readonly isCheck?: true;
}

/** Milliseconds until a server must have greeted; a program may have to be fetched first. */
const OPEN_MS = { remote: 15_000, program: 120_000 };

/** Keeps one connection to each server that is in use. */
export class Connections {
  private readonly held = new Map<string, Held>();
  private readonly endings = new Set<Promise<void>>();
  /** Nothing is connected to any more: svc is stopping. */
  isClosed = false;

  constructor(private readonly parts: ConnectionParts) {}

  /**
   * Does something with a server, which is reached first when it has to be. A server that has forgotten the session is
   * greeted again, once: it has not done anything then. Errors: those of the work, and of reaching the server (AppErrors).
   */
  async use<T>(target: Target, work: (connection: Connection) => Promise<T>, how: Use = {}): Promise<T> {
    const { held, isNew } = this.hold(target, how);
    try {
      return await this.working(held, how, work);
    } catch (error) {
      if (isNew || !isForgotten(error)) throw error;
      this.drop(target.id, held);
      return await this.working(this.hold(target, how).held, how, work);
    }
  }

  /** Whether a server is connected now, as it is configured now. */
  has({ id, revision }: Target): boolean {
    return this.held.get(id)?.target.revision === revision;
  }

  /** Ends what is connected to a server. */
  end(id: string): void {
    const held = this.held.get(id);
    if (held) this.drop(id, held);
  }

  /** Ends what is connected to a server, unless somebody uses it. */
  endUnused(id: string): void {
    if (this.held.get(id)?.users === 0) this.end(id);
  }

  /** Ends all. */
  async close(): Promise<void> {
    this.isClosed = true;
    for (const [id, held] of this.held) this.drop(id, held);
    await Promise.all(this.endings);
  }

  private async working<T>(held: Held, how: Use, work: (connection: Connection) => Promise<T>): Promise<T> {
    held.users++;
    clearTimeout(held.timer);
    try {
      const connection = await held.opening;
      return await work(connection);
    } finally {
      held.users--;
      if (!how.isCheck || !held.target.config.stdio) held.lastUsed = performance.now();
      this.rest(held);
    }
  }

  private hold(target: Target, how: Use): { readonly held: Held; readonly isNew: boolean } {
    if (this.isClosed) throw fail('unavailable', { message: 'svc is stopping.' });
    const there = this.held.get(target.id);
    if (there?.target.revision === target.revision) return { held: there, isNew: false };
    if (there) this.drop(target.id, there);
    if (target.config.stdio) this.makeRoom(target.tenant);
    const leaving = new AbortController();
    const opening = this.open(target, leaving.signal);
    const held: Held = { target, opening, leaving, users: 0, lastUsed: performance.now() };
    this.held.set(target.id, held);
    held.opening.then(
      (connection) => {
        connection.onLost = () => this.drop(target.id, held);
        connection.onToolsChanged = () => this.parts.onNews(target);
        if (connection.isClosed) this.drop(target.id, held);
        else if (!how.discovers) this.parts.onNews(target);
      },
      () => this.drop(target.id, held),
    );
    return { held, isNew: true };
  }

  private async open(target: Target, signal: AbortSignal): Promise<Connection> {
    const timeoutMs = OPEN_MS[target.config.stdio ? 'program' : 'remote'];
    try {
      const way = await wayTo(target, this.parts);
      return await Connection.open(way, { version: this.parts.version, timeoutMs, signal });
    } catch (error) {
      throw serverFailure(error);
    }
  }

  /** A program that nobody uses is ended after a while; other connections cost nothing and are held by their checks. */
  private rest(held: Held): void {
    if (held.users > 0 || this.held.get(held.target.id) !== held) return;
    const left = held.lastUsed + this.parts.idleMs() - performance.now();
    clearTimeout(held.timer);
    held.timer = setTimeout(() => this.drop(held.target.id, held), Math.max(0, left));
    held.timer.unref();
  }

  private makeRoom(tenant: string): void {
    const programs = [...this.held.values()].filter(
      ({ target }) => target.tenant === tenant && target.config.stdio,
    );
    const most = this.parts.mostPrograms();
    if (programs.length < most) return;
    const [oldest] = programs.filter(({ users }) => users === 0).toSorted((a, b) => a.lastUsed - b.lastUsed);
    if (!oldest)
      throw fail('resource_exhausted', {
        message: `All ${most} programs of tool servers are busy (mcp.programs).`,
      });
    this.drop(oldest.target.id, oldest);
  }

  private drop(id: string, held: Held): void {
    clearTimeout(held.timer);
    held.leaving.abort();
    if (this.held.get(id) === held) this.held.delete(id);
    const ending = held.opening
      .then(
        (connection) => connection.close(),
        () => undefined,
      )
      .finally(() => this.endings.delete(ending));
    this.endings.add(ending);
  }
}

/** Whether a server does not know the session any more (MCP, Streamable HTTP, Session Management); some say 400. */
function isForgotten(error: unknown): boolean {
  const status = statusOf(error);
  return status === 404 || (status === 400 && /session/i.test(error instanceof Error ? error.message : ''));
}
