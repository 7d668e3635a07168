import { fail } from '../../../../../src/errors/app-error.ts';
import type { EgressGuard } from './egress-guard.ts';
import { type Engine, hasStatus } from './engine.ts';
import { INSTANCE_LABEL, type Names } from './names.ts';

/** The engine's network without anything in it. */
export const NO_NETWORK = 'none';

/** The network of an instance's boxes: they get out through it, and do not see each other. */
export class InstanceNetwork {
  private making: Promise<void> | undefined;

  constructor(
    private readonly engine: Engine,
    private readonly names: Names,
    private readonly guard: Pick<EgressGuard, 'raise'>,
    private readonly allowUnguarded: boolean,
  ) {}

  /**
   * Makes the network where it is missing and puts its guard up, again each time, as a firewall may be
   * flushed under it. Errors: runtime_missing when nothing would keep a box from this host.
   * @returns the network's name
   */
  async ready(): Promise<string> {
    this.making ??= this.make().finally(() => {
      this.making = undefined;
    });
    await this.making;
    const { guarded, reason } = await this.guard.raise();
    if (!guarded && !this.allowUnguarded) {
      const message = `A box with a network could reach this host: ${reason}. Use the network mode deny, or allow it in the configuration.`;
      throw fail('runtime_missing', { message });
    }
    return this.names.network;
  }

  /** Puts a stopped box on the network that it should be on now. */
  async move(containerId: string, from: readonly string[], to: string): Promise<void> {
    if (from.length === 1 && from[0] === to) return;
    for (const name of from)
      await this.engine.client.getNetwork(name).disconnect({ Container: containerId, Force: true });
    await this.engine.client.getNetwork(to).connect({ Container: containerId });
  }

  private async make(): Promise<void> {
    if (await this.exists()) return;
    await this.engine.client
      .createNetwork({
        Name: this.names.network,
        Driver: 'bridge',
        CheckDuplicate: true,
        EnableIPv6: false,
        Labels: { [INSTANCE_LABEL]: this.names.instance },
        Options: {
          'com.docker.network.bridge.name': this.names.bridge,
          'com.docker.network.bridge.enable_icc': 'false',
          'com.docker.network.bridge.host_binding_ipv4': '127.0.0.1',
        },
      })
      .catch((error) => {
        if (!hasStatus(error, 409)) throw error;
      });
  }

  private async exists(): Promise<boolean> {
    try {
      await this.engine.client.getNetwork(this.names.network).inspect();
      return true;
    } catch (error) {
      if (hasStatus(error, 404)) return false;
      throw error;
    }
  }
}
