import type { SandboxDriver } from '../drivers/driver.ts';
import type { LifecycleService } from '../lifecycle/service.ts';
import { Accounts } from './accounts.ts';
import type { BoxFiles } from './box-files.ts';
import type { RemoteFiles } from './remote/files.ts';
import { BoxServers, type BoxUser, type Lane } from './servers.ts';

/** The files of sandboxes that run, for every part of the daemon that needs them. */
export class FilesService {
  private readonly servers: BoxServers;
  private readonly accounts = new Map<string, Accounts>();

  constructor(
    driver: SandboxDriver,
    private readonly lifecycle: LifecycleService,
  ) {
    this.servers = new BoxServers(driver);
  }

  /**
   * The files of a sandbox over a process of the caller's own, which the caller closes: for long sessions.
   * Errors: sandbox_not_found, sandbox_wrong_state, unavailable.
   */
  async open(tenant: string, sandbox: string, user?: BoxUser): Promise<BoxFiles> {
    return this.servers.start(this.lifecycle.running(tenant, sandbox).id, user);
  }

  /**
   * The files of a sandbox over a process that all share, and that nobody closes: for single questions.
   * Errors: sandbox_not_found, sandbox_wrong_state, unavailable.
   */
  async shared(tenant: string, sandbox: string, user?: BoxUser, lane?: Lane): Promise<RemoteFiles> {
    return this.servers.shared(this.lifecycle.running(tenant, sandbox).id, user, lane);
  }

  /** The users and groups of a sandbox. */
  accountsOf(tenant: string, sandbox: string): Accounts {
    const { id } = this.lifecycle.get(tenant, sandbox);
    const known = this.accounts.get(id) ?? new Accounts();
    this.accounts.set(id, known);
    return known;
  }

  /** Lets go of what is kept for a sandbox that is gone or sleeps. */
  forget(sandboxId: string): void {
    this.servers.forget(sandboxId);
    this.accounts.delete(sandboxId);
  }

  close(): void {
    this.servers.close();
  }
}
