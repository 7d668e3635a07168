import { randomBytes } from 'node:crypto';
import { fail, invalid } from '../../../../src/errors/app-error.ts';
import { SECOND_MS } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import type { Caller } from '../../../http/route.ts';
import type { Connection, SandboxDriver } from '../drivers/driver.ts';
import type { SandboxEvents } from '../history/events.ts';
import type { LifecycleService } from '../lifecycle/service.ts';
import { wrongState } from '../lifecycle/states.ts';
import type { Sandbox } from '../tables.ts';
import type { PreviewAddresses, PreviewLabel } from './address.ts';
import { type Detected, detectListeners } from './detect.ts';
import type { NewSandboxPort, PortStore } from './store.ts';
import type { SandboxPort } from './tables.ts';
import type { PreviewTokens } from './token.ts';
import type { Visits } from './visits.ts';

/** Longest command that starts a server after a waking. */
const MAX_COMMAND = 4_096;
/** Most ports of one sandbox that have an address. */
const MAX_PORTS = 64;
/** Addresses that are kept in memory. */
const MAX_REMEMBERED = 1_000;

/** What the service stands on. */
export interface PortParts {
  readonly app: App;
  readonly driver: SandboxDriver;
  readonly lifecycle: LifecycleService;
  readonly events: SandboxEvents;
  readonly store: PortStore;
  readonly addresses: PreviewAddresses;
  readonly tokens: PreviewTokens;
  readonly visits: Visits;
}

/** How a port is exposed. */
export interface Exposure {
  readonly protocol: string;
  /** Runs in the sandbox when a visitor has woken it, which it thereby may; '' takes it away. */
  readonly wakeCommand?: string;
}

/** A port and the sandbox that it is of. */
export interface OpenPort {
  readonly row: SandboxPort;
  readonly sandbox: Sandbox;
}

/** A port as its owner sees it. */
export interface Mapping extends OpenPort {
  /** `<port>-<token>`. */
  readonly subdomain: string;
  readonly url: string;
}

/** Gives ports of sandboxes addresses, and takes them away. */
export class PortService {
  /** Ports by the token of their address, until the next event of their sandbox: every request of a page asks. */
  private readonly remembered = new Map<string, OpenPort>();

  constructor(private readonly parts: PortParts) {}

  /** The exposed ports of a sandbox. Errors: sandbox_not_found. */
  list(tenant: string, idOrName: string): Mapping[] {
    const sandbox = this.parts.lifecycle.get(tenant, idOrName);
    return this.parts.store.exposed(tenant, sandbox.id).map((row) => this.mapping({ row, sandbox }));
  }

  /**
   * Gives a port an address under which anybody reaches it who knows it. Asked again, it answers the same one, with the
   * new wake command if one is given.
   * Errors: sandbox_not_found, sandbox_wrong_state, invalid_argument, resource_exhausted.
   */
  expose(caller: Caller, idOrName: string, port: number, { protocol, wakeCommand }: Exposure): Mapping {
    if (protocol !== 'http') throw invalid({ field: 'protocol', description: 'must be http' });
    if (wakeCommand !== undefined && (wakeCommand.length > MAX_COMMAND || wakeCommand.includes('\0')))
      throw invalid({
        field: 'wakeCommand',
        description: `must be text of at most ${MAX_COMMAND} characters`,
      });
    const sandbox = this.living(caller.tenant, idOrName);
    const { store, events, app } = this.parts;
    const before = store.find(caller.tenant, sandbox.id, port);
    const command = wakeCommand === undefined ? (before?.wakeCommand ?? null) : wakeCommand || null;
    if (before?.exposed && before.wakeCommand === command) return this.known(sandbox, port);
    const event = { type: 'port.exposed', message: `Port ${port} has an address`, metadata: { port } };
    events.record(caller.tenant, sandbox.id, event, () => {
      this.ensure(sandbox, port, true, command);
      const { tenant, actor } = caller;
      app.audit.record({
        tenant,
        actor,
        action: 'sandbox.expose_port',
        target: sandbox.id,
        details: { port },
      });
    });
    return this.known(sandbox, port);
  }

  /** Takes the address of a port away, with its signed links and open connections. Errors: not_found. */
  unexpose(caller: Caller, idOrName: string, port: number): void {
    const { tenant, actor } = caller;
    const { store, events, app, visits, lifecycle } = this.parts;
    const { id } = lifecycle.get(tenant, idOrName);
    if (!store.find(tenant, id, port)) throw fail('not_found', { what: 'exposed port', id: String(port) });
    const event = {
      type: 'port.unexposed',
      message: `Port ${port} has no address any more`,
      metadata: { port },
    };
    events.record(tenant, id, event, () => {
      store.remove(tenant, id, port);
      app.audit.record({ tenant, actor, action: 'sandbox.unexpose_port', target: id, details: { port } });
    });
    visits.end(id, port);
  }

  /** A link that opens a port without a credential, exposed or not. Errors: sandbox_not_found, sandbox_wrong_state. */
  sign(caller: Caller, idOrName: string, port: number, seconds: number): { url: string; expiresAt: number } {
    const { app, addresses, tokens } = this.parts;
    const sandbox = this.living(caller.tenant, idOrName);
    const row = app.db.transaction(() => {
      const details = { port, seconds };
      const { tenant, actor } = caller;
      app.audit.record({ tenant, actor, action: 'sandbox.preview_link', target: sandbox.id, details });
      return this.ensure(sandbox, port, false, null);
    });
    const expiresAt = Math.floor(app.clock.now() / SECOND_MS + seconds) * SECOND_MS;
    const address = addresses.url({ port, token: tokens.address(row.nonce) });
    return { url: `${address}?_preview_token=${tokens.sign(row, expiresAt)}`, expiresAt };
  }

  /** What listens in a sandbox, and which of it is exposed. Errors: sandbox_not_found, sandbox_wrong_state, not_configured. */
  async detect(
    tenant: string,
    idOrName: string,
  ): Promise<{ found: Detected[]; exposed: ReadonlySet<number> }> {
    const { lifecycle, driver, store } = this.parts;
    const { id } = lifecycle.running(tenant, idOrName);
    const init = await driver.hostProcess(id);
    if (init === undefined)
      throw fail('not_configured', { message: 'The Docker engine does not run on this host.' });
    const found = await detectListeners(init);
    return { found, exposed: new Set(store.exposed(tenant, id).map(({ port }) => port)) };
  }

  /** A connection to a port, for its owner. Errors: sandbox_not_found, sandbox_wrong_state, nothing_listens, not_configured. */
  async connect(
    tenant: string,
    idOrName: string,
    port: number,
  ): Promise<{ id: string; connection: Connection }> {
    const { id } = this.parts.lifecycle.running(tenant, idOrName);
    return { id, connection: await this.parts.driver.dial(id, port) };
  }

  /** The port behind an address; undefined when there is none, or none any more. */
  at({ port, token }: PreviewLabel): OpenPort | undefined {
    const open = this.remembered.get(token) ?? this.find(token);
    return open && open.row.port === port && isLiving(open.sandbox) ? open : undefined;
  }

  /** Something happened to a sandbox: what is remembered of it may be so no more. */
  forget(sandboxId: string): void {
    for (const [token, { row }] of this.remembered)
      if (row.sandboxId === sandboxId) this.remembered.delete(token);
  }

  private find(token: string): OpenPort | undefined {
    const open = this.parts.store.byToken(this.parts.tokens.hash(token));
    if (this.remembered.size >= MAX_REMEMBERED) this.remembered.clear();
    if (open) this.remembered.set(token, open);
    return open;
  }

  private known(sandbox: Sandbox, port: number): Mapping {
    const row = this.parts.store.find(sandbox.tenant, sandbox.id, port);
    if (!row) throw fail('internal');
    return this.mapping({ row, sandbox });
  }

  private mapping(open: OpenPort): Mapping {
    const { addresses, tokens } = this.parts;
    const label = { port: open.row.port, token: tokens.address(open.row.nonce) };
    return { ...open, subdomain: addresses.label(label), url: addresses.url(label) };
  }

  private ensure(sandbox: Sandbox, port: number, exposed: boolean, wakeCommand: string | null): SandboxPort {
    const { store, tokens, app } = this.parts;
    const { id: sandboxId, tenant } = sandbox;
    if (!store.find(tenant, sandboxId, port) && store.count(tenant, sandboxId) >= MAX_PORTS)
      throw fail('resource_exhausted', {
        message: `${MAX_PORTS} ports of this sandbox have an address already.`,
      });
    const nonce = randomBytes(16).toString('hex');
    const tokenHash = tokens.hash(tokens.address(nonce));
    const createdAt = app.clock.now();
    const row: NewSandboxPort = {
      tenant,
      sandboxId,
      port,
      protocol: 'http',
      exposed,
      wakeCommand,
      nonce,
      tokenHash,
      createdAt,
    };
    return store.ensure(row);
  }

  private living(tenant: string, idOrName: string): Sandbox {
    const sandbox = this.parts.lifecycle.get(tenant, idOrName);
    if (!isLiving(sandbox)) throw wrongState(sandbox.id, sandbox.state, 'use');
    return sandbox;
  }
}

function isLiving({ state }: Sandbox): boolean {
  return state !== 'terminated' && state !== 'terminating' && state !== 'failed';
}
