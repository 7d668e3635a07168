import { AppError, fail } from '../../../../src/errors/app-error.ts';
import type { App } from '../../../app.ts';
import type { Lookup, NetworkPolicy, SandboxDriver } from '../drivers/driver.ts';
import { isSamePolicy } from '../drivers/network/policy.ts';
import type { LifecycleService } from '../lifecycle/service.ts';
import type { Sandbox } from '../tables.ts';
import { type NetworkRequest, resolvePolicy, toNetwork } from './policy-request.ts';

/** The states in which what a sandbox reaches can be changed. */
const CHANGEABLE = ['running', 'sleeping', 'archived'];

/** What sandboxes reach, and which names they looked up. */
export class NetworkService {
  constructor(
    private readonly app: App,
    private readonly driver: SandboxDriver,
    private readonly lifecycle: LifecycleService,
  ) {}

  /** What a sandbox reaches. Errors: sandbox_not_found. */
  get(tenant: string, idOrName: string): NetworkPolicy {
    return this.lifecycle.get(tenant, idOrName).config.network;
  }

  /** Changes what a sandbox reaches, to what a request says. Errors: as `set`, and invalid_argument. */
  async change(tenant: string, idOrName: string, request: NetworkRequest): Promise<NetworkPolicy> {
    const policy = resolvePolicy(request, this.app.config.get('outbound.allow'));
    return (await this.set(tenant, idOrName, policy)).config.network;
  }

  /**
   * Changes what a sandbox reaches. It is written down before it holds, and holds when this resolves; a sleeping
   * sandbox wakes with it. When this host cannot hold it nothing has changed.
   * Errors: sandbox_not_found, sandbox_wrong_state, not_configured, runtime_missing.
   */
  set(tenant: string, idOrName: string, policy: NetworkPolicy): Promise<Sandbox> {
    return this.lifecycle.exclusively(tenant, idOrName, async (row) => {
      if (!CHANGEABLE.includes(row.state)) throw wrongState(row);
      const before = row.config.network;
      if (isSamePolicy(before, policy)) return row;
      this.write(row, policy);
      if (row.state === 'running')
        await this.driver.setNetwork(row.id, policy).catch((error: unknown) => {
          if (isRefusal(error)) this.write(row, before);
          throw error;
        });
      return this.lifecycle.get(tenant, row.id);
    });
  }

  /** The names that a sandbox looked up, newest first. Errors: sandbox_not_found. */
  lookups(tenant: string, idOrName: string): readonly Lookup[] {
    return this.driver.lookups(this.lifecycle.get(tenant, idOrName).id);
  }

  private write(row: Sandbox, network: NetworkPolicy): void {
    const { networkMode, networkAllowCidrs, networkAllowHosts } = toNetwork(network);
    this.lifecycle.settle(
      row,
      row.state,
      { config: { ...row.config, network } },
      {
        type: 'network.changed',
        message: `The network mode is ${networkMode}`,
        metadata: { networkMode, networkAllowCidrs, networkAllowHosts },
      },
    );
  }
}

/** Whether a driver has changed nothing, because it cannot. */
function isRefusal(error: unknown): boolean {
  return error instanceof AppError && (error.code === 'not_configured' || error.code === 'runtime_missing');
}

function wrongState({ id, state }: Sandbox): AppError {
  const leave = 'Try again when it is running or asleep.';
  return fail('sandbox_wrong_state', { id, state, operation: 'change what it reaches', leave });
}
