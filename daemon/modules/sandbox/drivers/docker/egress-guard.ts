import { readdir, readFile } from 'node:fs/promises';
import type { Lookup, NetworkPolicy } from '../driver.ts';
import type { Block } from '../network/address.ts';
import { Guard } from '../network/guard.ts';
import { nameOf, portIndexOf } from '../network/port.ts';
import { nameServers } from '../network/resolvers.ts';
import { readRoutes } from '../network/routes.ts';
import type { Names } from './names.ts';
import type { DriverLog } from './options.ts';

/** Whether boxes with a network are kept from this host. */
export interface GuardState {
  readonly guarded: boolean;
  /** Why not; how, otherwise. */
  readonly reason: string;
}

/** The instance's network as the engine made it. */
export interface BridgeNetwork {
  readonly subnet: Block;
  readonly gateway: number;
}

/** A container on the network. */
export interface GuardedContainer {
  readonly id: string;
  /** Its first process. */
  readonly pid: number;
  readonly address: number;
  readonly policy: NetworkPolicy;
}

/** What a guard is made with. */
export interface EgressGuardOptions {
  readonly names: Names;
  /** Remembers the port at which names are asked for. */
  readonly portFile: string;
  /** Name servers in place of the host's. */
  readonly nameServers?: readonly string[];
  readonly log: DriverLog;
}

/**
 * What the engine's own rules do not have: what each box reaches, and which names it may look up. The rules are
 * tables of our own in the network namespace of the engine; other firewalls go on beside them.
 */
export class EgressGuard {
  private readonly guard: Guard;
  private place: EnginePlace | undefined;

  constructor(private readonly options: EgressGuardOptions) {
    const { names, portFile, log } = options;
    this.guard = new Guard({
      table: names.table,
      bridge: names.bridge,
      portFile,
      nameServers: nameServers(options.nameServers ?? []),
      log,
    });
  }

  /** Puts the rules up, again where they are missing. Never throws: what keeps it from doing so is the reason. */
  async raise(network: BridgeNetwork): Promise<GuardState> {
    const lacks = missingMeans();
    if (lacks) return { guarded: false, reason: lacks };
    this.place = await findPlace(this.options.names.bridge, this.place);
    if (!this.place) return { guarded: false, reason: 'the engine does not run on this host' };
    try {
      await this.guard.hold({ ...network, ...this.place });
      return { guarded: true, reason: `nftables table inet ${this.options.names.table}` };
    } catch (error) {
      const reason = String(error).split('\n')[0];
      this.options.log('warn', 'the guard of the box network was refused', { reason });
      return { guarded: false, reason: `nftables refused the rules: ${reason}` };
    }
  }

  /** Takes up a container that has been running, before the rules stand. */
  async adopt(container: GuardedContainer): Promise<void> {
    this.place ??= await findPlace(this.options.names.bridge, undefined);
    const port = await this.portOf(container.pid);
    if (port) this.guard.adopt(container.id, { ...container, port });
  }

  /** Lets a container out as far as its policy goes. Errors: HostCommandError, Error when it is not connected. */
  async put({ id, pid, address, policy }: GuardedContainer): Promise<void> {
    const port = await this.portOf(pid);
    if (!port) throw new Error(`the box ${id} is not connected to ${this.options.names.bridge}`);
    await this.guard.put(id, { address, port, policy });
  }

  /** Takes the container at an address out, if it is this box's. */
  async drop(id: string, address: number): Promise<void> {
    if (this.guard.find(address)?.id === id) await this.guard.drop(address);
  }

  /** How many boxes are guarded. */
  get size(): number {
    return this.guard.size;
  }

  lookupsOf(id: string): readonly Lookup[] {
    return this.guard.lookupsOf(id);
  }

  forget(id: string): void {
    this.guard.forget(id);
  }

  /** Stops answering questions for names; with `remove` the rules go too. */
  close(remove: boolean): Promise<void> {
    return this.guard.close(remove);
  }

  private async portOf(pid: number): Promise<string | undefined> {
    const index = portIndexOf(pid);
    const devices = await readFile(`/proc/${this.place?.pid ?? 'self'}/net/dev_mcast`, 'utf8').catch(
      () => '',
    );
    return index === undefined ? undefined : nameOf(index, devices);
  }
}

/** What this process lacks to guard a network; undefined when it has it all. */
export function missingMeans(): string | undefined {
  if (process.platform !== 'linux') return 'the engine runs in a virtual machine';
  if (process.getuid?.() !== 0) return 'only root can guard the network of an engine';
  if (!Bun.which('nft')) return 'nft is not installed';
  return undefined;
}

/** What keeps boxes with a network from being guarded here; undefined when nothing does. */
export async function missingGuard(): Promise<string | undefined> {
  const lacks = missingMeans();
  if (lacks) return lacks;
  return (await enginePids()).length > 0 ? undefined : 'the engine does not run on this host';
}

/** Where the engine's interfaces are, as seen from this process. */
interface EnginePlace {
  /** A process there; absent when it is here. */
  readonly pid?: number;
  /** The networks that the engine's host is in. */
  readonly connected: readonly Block[];
}

/** @param known where it was the last time: it is looked at first */
async function findPlace(bridge: string, known: EnginePlace | undefined): Promise<EnginePlace | undefined> {
  const isThere = (pid: number | undefined) => hasInterface(pid, bridge);
  const place = async (pid: number | undefined) => ({ pid, connected: await connectedTo(pid, bridge) });
  if (known && (await isThere(known.pid))) return place(known.pid);
  if (await isThere(undefined)) return place(undefined);
  for (const pid of await enginePids()) if (await isThere(pid)) return place(pid);
  return undefined;
}

async function enginePids(): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const programs = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')),
  );
  return pids.filter((_, i) => programs[i]?.trim() === 'dockerd').map(Number);
}

async function hasInterface(pid: number | undefined, name: string): Promise<boolean> {
  const table = await readFile(`/proc/${pid ?? 'self'}/net/dev`, 'utf8').catch(() => '');
  return table.split('\n').some((line) => line.trim().startsWith(`${name}:`));
}

async function connectedTo(pid: number | undefined, bridge: string): Promise<Block[]> {
  const routes = readRoutes(await readFile(`/proc/${pid ?? 'self'}/net/route`, 'utf8').catch(() => ''));
  return routes.filter(({ connected, device }) => connected && device !== bridge).map(({ block }) => block);
}
