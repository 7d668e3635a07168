import { fail } from '../../../../../src/errors/app-error.ts';
import { SECOND_MS } from '../../../../../src/kit/time.ts';
import type { Lookup, NetworkPolicy } from '../driver.ts';
import { parseAddress, parseBlock } from '../network/address.ts';
import { isSealed } from '../network/policy.ts';
import type { BridgeNetwork, EgressGuard, GuardState } from './egress-guard.ts';
import { type Engine, hasStatus } from './engine.ts';
import { INSTANCE_LABEL, type Names, SANDBOX_LABEL } from './names.ts';

/** The engine's network without anything in it. */
export const NO_NETWORK = 'none';

const CHECK_MS = 5 * SECOND_MS;

/** What the network is made with. */
export interface InstanceNetworkParts {
  readonly engine: Engine;
  readonly names: Names;
  readonly guard: Pick<
    EgressGuard,
    'raise' | 'adopt' | 'put' | 'drop' | 'size' | 'lookupsOf' | 'forget' | 'close'
  >;
  /** Whether boxes get the internet also where nothing guards it. */
  readonly allowUnguarded: boolean;
  /** What a box may reach, from its record. */
  readonly policyOf: (id: string) => Promise<NetworkPolicy>;
}

/** The network of an instance's boxes: each gets out through it as far as its policy goes, and sees no other. */
export class InstanceNetwork {
  private making: Promise<BridgeNetwork> | undefined;
  private adopted: Promise<void> | undefined;
  private readonly addresses = new Map<string, number>();
  private watch: Timer | undefined;

  constructor(private readonly parts: InstanceNetworkParts) {}

  /**
   * Makes the network where it is missing and puts its guard up, again where it is missing, as a firewall may be
   * flushed under it. Errors: runtime_missing when nothing would keep a box from this host, not_configured when
   * nothing would hold it to its policy.
   * @returns the network's name, and whether it is guarded
   */
  async ready(policy: NetworkPolicy): Promise<{ readonly name: string; readonly guarded: boolean }> {
    const { names, allowUnguarded } = this.parts;
    const { guarded, reason } = await this.raise();
    const isPlain = policy.mode === 'allow' && policy.allowCidrs.length === 0;
    if (!guarded && !isPlain && !isSealed(policy))
      throw fail('not_configured', {
        message: `Nothing here can hold a sandbox to a list of hosts or networks: ${reason}. The network mode deny works.`,
      });
    if (!guarded && !allowUnguarded && !isSealed(policy)) {
      const message = `A box with a network could reach this host: ${reason}. Use the network mode deny, or allow it in the configuration.`;
      throw fail('runtime_missing', { message });
    }
    return { name: names.network, guarded };
  }

  /** Lets a running box out as far as its policy goes; where nothing guards, it is out already. */
  async admit(id: string, policy: NetworkPolicy, { guarded }: { readonly guarded: boolean }): Promise<void> {
    if (!guarded) return;
    const found = await this.locate(id);
    if (!found) throw fail('unavailable', { message: `The box ${id} has no address on its network.` });
    await this.parts.guard.put({ id, policy, ...found });
    this.addresses.set(id, found.address);
    this.startWatch();
  }

  /** Takes a box out that has stopped. */
  async expel(id: string): Promise<void> {
    const address = this.addresses.get(id);
    if (address === undefined) return;
    this.addresses.delete(id);
    await this.parts.guard.drop(id, address).catch(() => {});
  }

  /** Puts a box on the network that it should be on now. */
  async move(containerId: string, from: readonly string[], to: string): Promise<void> {
    if (from.length === 1 && from[0] === to) return;
    const { client } = this.parts.engine;
    for (const name of from)
      await client.getNetwork(name).disconnect({ Container: containerId, Force: true });
    await client.getNetwork(to).connect({ Container: containerId });
  }

  /** The names that a box looked up, newest first. */
  lookupsOf(id: string): readonly Lookup[] {
    return this.parts.guard.lookupsOf(id);
  }

  /** Forgets the names of a box that is gone for good. */
  forget(id: string): void {
    this.parts.guard.forget(id);
  }

  /** Lets go of the network; it goes with its rules when no box is left, running or not. */
  async close(): Promise<void> {
    clearInterval(this.watch);
    this.watch = undefined;
    const isOver = this.adopted !== undefined && (await this.removeUnused().catch(() => false));
    await this.parts.guard.close(isOver);
  }

  private async removeUnused(): Promise<boolean> {
    const { engine, names } = this.parts;
    const filters = { label: [`${INSTANCE_LABEL}=${names.instance}`] };
    if ((await engine.client.listContainers({ all: true, filters })).length > 0) return false;
    await engine.client.getNetwork(names.network).remove();
    return true;
  }

  /** Boxes that run are taken up before the first rules: those would cut them off. */
  private async raise(): Promise<GuardState> {
    this.making ??= this.make().finally(() => {
      this.making = undefined;
    });
    const network = await this.making;
    this.adopted ??= this.adopt().catch((error) => {
      this.adopted = undefined;
      throw error;
    });
    await this.adopted;
    return this.parts.guard.raise(network);
  }

  private async adopt(): Promise<void> {
    const { engine, names, guard, policyOf } = this.parts;
    const filters = { label: [`${INSTANCE_LABEL}=${names.instance}`], network: [names.network] };
    const containers = await engine.client.listContainers({ filters });
    const ids = containers.map(({ Labels: labels }) => labels[SANDBOX_LABEL] ?? '').filter((id) => id !== '');
    await Promise.all(
      ids.map(async (id) => {
        const found = await this.locate(id);
        if (!found) return;
        await guard.adopt({ id, policy: await policyOf(id), ...found });
        this.addresses.set(id, found.address);
        this.startWatch();
      }),
    );
  }

  private async locate(id: string): Promise<{ pid: number; address: number } | undefined> {
    const { engine, names } = this.parts;
    const info = await engine.client.getContainer(names.container(id)).inspect();
    const address = parseAddress(info.NetworkSettings.Networks[names.network]?.IPAddress ?? '');
    return address === undefined || !info.State.Pid ? undefined : { pid: info.State.Pid, address };
  }

  private startWatch(): void {
    if (this.watch) return;
    this.watch = setInterval(() => {
      if (this.parts.guard.size > 0) void this.raise().catch(() => {});
    }, CHECK_MS);
    this.watch.unref();
  }

  private async make(): Promise<BridgeNetwork> {
    const { engine, names } = this.parts;
    const before = await this.find();
    if (before) return before;
    await engine.client
      .createNetwork({
        Name: names.network,
        Driver: 'bridge',
        CheckDuplicate: true,
        EnableIPv6: false,
        Labels: { [INSTANCE_LABEL]: names.instance },
        Options: {
          'com.docker.network.bridge.name': names.bridge,
          'com.docker.network.bridge.enable_icc': 'false',
          'com.docker.network.bridge.host_binding_ipv4': '127.0.0.1',
        },
      })
      .catch((error) => {
        if (!hasStatus(error, 409)) throw error;
      });
    const made = await this.find();
    if (!made) throw fail('unavailable', { message: `The engine has no network ${names.network}.` });
    return made;
  }

  private async find(): Promise<BridgeNetwork | undefined> {
    const { engine, names } = this.parts;
    try {
      const info = await engine.client.getNetwork(names.network).inspect();
      const { Subnet: subnet = '', Gateway: gateway = '' } = info.IPAM?.Config?.[0] ?? {};
      const [block, address] = [parseBlock(subnet), parseAddress(gateway)];
      if (!block || address === undefined)
        throw fail('unavailable', { message: `The network ${names.network} has no IPv4 addresses.` });
      return { subnet: block, gateway: address };
    } catch (error) {
      if (hasStatus(error, 404)) return undefined;
      throw error;
    }
  }
}
