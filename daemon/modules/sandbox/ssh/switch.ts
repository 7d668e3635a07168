import { fail } from '../../../../src/errors/app-error.ts';
import type { Caller } from '../../../http/route.ts';
import type { LifecycleService } from '../lifecycle/service.ts';
import { wrongState } from '../lifecycle/states.ts';
import type { Sandbox } from '../tables.ts';
import type { Connections } from './connections.ts';

/** Errors: ssh_disabled, with the way to turn it on. */
export function requireSsh(box: Sandbox): void {
  if (!box.config.sshEnabled) throw fail('ssh_disabled', { id: box.name || box.id });
}

/** Whether a sandbox sleeps and is woken by whoever comes. */
export function canWake({ state, config }: Sandbox): boolean {
  return state === 'sleeping' && config.wakeOnRequest === true;
}

/** Turns SSH into a sandbox on and off. */
export class SshSwitch {
  constructor(
    private readonly lifecycle: LifecycleService,
    private readonly connections: Connections,
  ) {}

  /** Sets it, also while it sleeps; off also ends the connections that are open. Errors: sandbox_not_found, sandbox_wrong_state. */
  async set({ tenant, actor }: Caller, sandbox: string, enabled: boolean): Promise<Sandbox> {
    const box = await this.lifecycle.exclusively(tenant, sandbox, async (row) => {
      if (row.state === 'terminated' || row.state === 'terminating')
        throw wrongState(row.id, row.state, 'use');
      if (row.config.sshEnabled === enabled) return row;
      const config = { ...row.config, sshEnabled: enabled };
      const event = {
        type: enabled ? 'ssh.enabled' : 'ssh.disabled',
        message: enabled ? 'SSH is on' : 'SSH is off',
      };
      this.lifecycle.settle(row, row.state, { config }, { ...event, metadata: { actor } });
      return { ...row, config };
    });
    if (!enabled) this.connections.closeWhere(({ sandboxId }) => sandboxId === box.id, 'SSH was turned off');
    return box;
  }
}
