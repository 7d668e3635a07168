import { fail } from '../../../../../src/errors/app-error.ts';
import type { App } from '../../../../app.ts';
import type { SocketSession } from '../../../../http/route.ts';
import type { TerminalSize } from '../../drivers/driver.ts';
import type { LifecycleService } from '../../lifecycle/service.ts';
import type { CommandRequest, CommandService } from '../service.ts';
import { type Part, TerminalConnection } from './connection.ts';
import { TerminalHub } from './hub.ts';

/** Each keeps up to a megabyte. */
const MAX_PER_BOX = 64;

/** The terminals that can be attached to. They belong to this process: none outlives it. */
export class Terminals {
  private readonly hubs = new Map<string, TerminalHub>();
  private readonly graces = new Map<string, Timer>();

  constructor(
    private readonly app: App,
    private readonly lifecycle: LifecycleService,
    private readonly commands: CommandService,
  ) {}

  /** Opens a terminal for a connection. Errors: those of a command, resource_exhausted. */
  async open(
    tenant: string,
    sandbox: string,
    request: CommandRequest,
    size: TerminalSize,
  ): Promise<SocketSession> {
    const box = this.lifecycle.running(tenant, sandbox);
    if (this.ofBox(tenant, box.id).length >= MAX_PER_BOX)
      throw fail('resource_exhausted', { message: `This sandbox has ${MAX_PER_BOX} terminals already.` });
    const running = await this.commands.startTerminal(tenant, box.id, request, size);
    const { id } = running.row;
    const hub: TerminalHub = new TerminalHub(running, size, {
      onHeld: () => this.stopGrace(hub),
      onAlone: () => this.startGrace(hub),
      onEnd: () => this.over(hub),
      log: this.app.log,
    });
    this.hubs.set(id, hub);
    this.startGrace(hub);
    return this.connect(hub, { mode: 'control', since: 0, isAttached: false });
  }

  /** Another connection to a terminal that is there. Errors: not_found, terminal_ended. */
  attach(tenant: string, sandbox: string, id: string, part: Omit<Part, 'isAttached'>): SocketSession {
    return this.connect(this.find(tenant, sandbox, id), { ...part, isAttached: true });
  }

  list(tenant: string, sandbox: string): TerminalHub[] {
    return this.ofBox(tenant, this.lifecycle.get(tenant, sandbox).id).filter(({ ended }) => !ended);
  }

  /** Hangs up on a terminal. Errors: not_found, terminal_ended. */
  async end(tenant: string, sandbox: string, id: string): Promise<void> {
    const hub = this.find(tenant, sandbox, id);
    await this.commands.end(hub.row.id, 'SIGHUP');
  }

  private connect(hub: TerminalHub, part: Part): SocketSession {
    return new TerminalConnection(hub, part, () => this.hangUp(hub));
  }

  private find(tenant: string, sandbox: string, id: string): TerminalHub {
    const box = this.lifecycle.get(tenant, sandbox);
    const hub = this.ofBox(tenant, box.id).find(({ row }) => row.id === id);
    if (hub) return hub;
    const row = this.commands.find(tenant, box.id, id);
    if (row?.kind !== 'terminal') throw fail('not_found', { what: 'terminal', id });
    throw fail('terminal_ended', { id, why: row.error ?? `exit code ${row.exitCode ?? 0}` });
  }

  private ofBox(tenant: string, sandboxId: string): TerminalHub[] {
    return [...this.hubs.values()].filter(({ row }) => row.tenant === tenant && row.sandboxId === sandboxId);
  }

  /** One that has ended stays for a while, so that a peer whose connection dropped learns how. */
  private over(hub: TerminalHub): void {
    if (hub.controller) this.hubs.delete(hub.row.id);
    else this.startGrace(hub);
  }

  private startGrace(hub: TerminalHub): void {
    this.stopGrace(hub);
    if (!this.hubs.has(hub.row.id)) return;
    const timer = setTimeout(() => this.hangUp(hub), this.app.config.get('sandbox.terminal_grace'));
    timer.unref();
    this.graces.set(hub.row.id, timer);
  }

  private stopGrace({ row }: TerminalHub): void {
    clearTimeout(this.graces.get(row.id));
    this.graces.delete(row.id);
  }

  private hangUp(hub: TerminalHub): void {
    this.stopGrace(hub);
    if (hub.ended) this.hubs.delete(hub.row.id);
    else void this.commands.end(hub.row.id, 'SIGHUP').catch(() => undefined);
  }
}
