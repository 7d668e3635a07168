import { fail } from '../../../../src/errors/app-error.ts';
import { SECOND_MS } from '../../../../src/kit/time.ts';
import type { CommandService } from '../command/service.ts';
import type { SandboxDriver } from '../drivers/driver.ts';
import type { LifecycleService } from '../lifecycle/service.ts';
import type { State } from '../lifecycle/states.ts';
import { wrongState } from '../lifecycle/states.ts';
import type { Sandbox } from '../tables.ts';
import type { PortStore } from './store.ts';
import type { SandboxPort } from './tables.ts';

/** States that end by themselves in a sandbox that runs. */
const ON_THE_WAY: readonly State[] = ['pending', 'creating', 'reviving'];
/** Longest wait for a sandbox to run, and for something in it to listen after it was woken. */
const WAKE_MS = 30 * SECOND_MS;
const LISTEN_MS = 20 * SECOND_MS;
const PAUSE_MS = 50;

/** Makes sure that a sandbox runs when somebody comes to one of its ports. */
export class Awake {
  /** Sandboxes that are being woken: many visitors wait for one waking. */
  private readonly waking = new Map<string, Promise<void>>();

  constructor(
    private readonly lifecycle: LifecycleService,
    private readonly driver: SandboxDriver,
    private readonly commands: CommandService,
    private readonly store: PortStore,
  ) {}

  /**
   * Resolves when the sandbox runs, and after a waking when the port answers. A sleeping one is woken when it was made
   * with `wakeOnRequest`, or the port has a wake command. Errors: sandbox_wrong_state, nothing_listens, and what reviving throws.
   */
  async running(sandbox: Sandbox, { port, wakeCommand }: SandboxPort): Promise<void> {
    if (sandbox.state === 'running') {
      this.lifecycle.touch(sandbox.id);
      return;
    }
    const mayWake = sandbox.state === 'sleeping' && (sandbox.config.wakeOnRequest || wakeCommand !== null);
    if (!mayWake && !ON_THE_WAY.includes(sandbox.state)) throw wrongState(sandbox.id, sandbox.state, 'use');
    await (mayWake ? this.wake(sandbox) : this.untilRunning(sandbox));
    this.lifecycle.touch(sandbox.id);
    await this.untilAnswers(sandbox.id, port);
  }

  private wake({ tenant, id }: Sandbox): Promise<void> {
    const before = this.waking.get(id);
    if (before) return before;
    const waking = this.reviveAndStart(tenant, id).finally(() => this.waking.delete(id));
    this.waking.set(id, waking);
    return waking;
  }

  private async reviveAndStart(tenant: string, id: string): Promise<void> {
    await this.lifecycle.revive(tenant, id);
    for (const { wakeCommand } of this.store.exposed(tenant, id))
      if (wakeCommand !== null) await this.commands.startBackground(tenant, id, { command: wakeCommand });
  }

  private async untilRunning({ tenant, id }: Sandbox): Promise<void> {
    for (const end = Date.now() + WAKE_MS; ; await Bun.sleep(PAUSE_MS)) {
      const { state } = this.lifecycle.get(tenant, id);
      if (state === 'running') return;
      if (!ON_THE_WAY.includes(state) || Date.now() > end) throw wrongState(id, state, 'use');
    }
  }

  private async untilAnswers(id: string, port: number): Promise<void> {
    for (const end = Date.now() + LISTEN_MS; ; await Bun.sleep(PAUSE_MS)) {
      const connection = await this.driver.dial(id, port).catch(() => undefined);
      if (connection) {
        connection.destroy();
        return;
      }
      if (Date.now() > end) throw fail('nothing_listens', { port });
    }
  }
}
