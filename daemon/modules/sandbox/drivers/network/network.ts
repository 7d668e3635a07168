import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SECOND_MS } from '../../../../../src/kit/time.ts';
import type { Lookup, NetworkPolicy } from '../driver.ts';
import { bothOf } from '../host/both.ts';
import { readJson, readText, writeWhole } from '../host/files.ts';
import type { HostLog } from '../host/log.ts';
import { findProgram, run } from '../host/run.ts';
import { type Block, formatAddress } from './address.ts';
import { Guard } from './guard.ts';
import { Leases } from './leases.ts';
import { portOf } from './port.ts';
import { BOX_NAME_SERVER, nameServers } from './resolvers.ts';
import { readRoutes } from './routes.ts';
import { addressOf, chooseSubnet, gatewayOf } from './subnet.ts';

const CHECK_MS = 5 * SECOND_MS;

/** What the network of an instance is made with. */
export interface NetworkOptions {
  readonly instance: string;
  /** A folder of its own for what it must know after a restart. */
  readonly dir: string;
  /** A folder that everybody may enter: the resolver file is mounted from inside a user namespace. */
  readonly openDir: string;
  /** Name servers in place of the host's. */
  readonly nameServers?: readonly string[];
  readonly log: HostLog;
}

/** A box on the network. */
export interface Attachment {
  /** Its place in the subnet. */
  readonly address: number;
  /** The host's end of its cable. */
  readonly port: string;
}

/** A box that was attached by an earlier daemon; one of an older version does not tell its port. */
export interface Attached extends Partial<Attachment> {
  readonly id: string;
  readonly pid: number;
  readonly address: number;
  readonly policy: NetworkPolicy;
}

/**
 * The network of an instance's boxes: a bridge with a private subnet, and two nftables tables. Nothing else of
 * the host's network is touched. Boxes get in only when the rules stand; a host that cannot forward or
 * filter gives its boxes no network instead of an open one.
 */
export class Network {
  readonly bridge: string;
  readonly table: string;
  private readonly mark: string;
  private readonly portPrefix: string;
  private readonly leases: Leases;
  private readonly guard: Guard;
  private ready: Promise<Block> | undefined;
  /** Whether the bridge was made, so that a missing one means that somebody has removed it. */
  private stands = false;
  private watch: Timer | undefined;

  constructor(private readonly options: NetworkOptions) {
    const { instance, dir, openDir, log } = options;
    this.mark = markOf(instance);
    this.bridge = `svc${this.mark}`;
    this.table = `svc_${this.mark}`;
    this.portPrefix = `v${this.mark.slice(-4)}`;
    this.leases = new Leases(join(dir, 'leases'));
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    mkdirSync(openDir, { recursive: true });
    chmodSync(openDir, 0o755);
    writeFileSync(this.resolvConf(), `nameserver ${BOX_NAME_SERVER}\n`);
    chmodSync(this.resolvConf(), 0o644);
    this.guard = new Guard({
      table: this.table,
      bridge: this.bridge,
      owned: { portPrefix: this.portPrefix, hardwareAddress: hardwareAddress('bridge', instance) },
      portFile: join(dir, 'dns-port'),
      nameServers: nameServers(options.nameServers ?? []),
      log,
    });
  }

  /** Why boxes have no network here; undefined when they have one. Looked up each time: both can change. */
  missing(): string | undefined {
    const lacking = ['nft', 'ip', 'nsenter'].filter((program) => !findProgram(program));
    if (lacking.length > 0) return `${lacking.join(', ')} not installed: boxes have no network`;
    if (readText('/proc/sys/net/ipv4/ip_forward')?.trim() !== '1')
      return 'net.ipv4.ip_forward is 0: boxes have no network (sysctl -w net.ipv4.ip_forward=1)';
    return undefined;
  }

  /** The file that is /etc/resolv.conf in boxes. */
  resolvConf(): string {
    return join(this.options.openDir, 'resolv.conf');
  }

  /**
   * Connects the namespace of a process to the bridge. Nothing has to be undone by hand: both ends of the cable go
   * when the namespace goes. The rules are put up while the process is still on its way. Errors: HostCommandError, that
   * of the process.
   */
  async attach(id: string, process: number | Promise<number>, policy: NetworkPolicy): Promise<Attachment> {
    const subnet = await this.ensure();
    const place = this.leases.take();
    if (place === undefined) throw new Error('every address of the subnet is taken');
    const port = `${this.portPrefix}${crypto.randomUUID().slice(0, 8)}`;
    const address = addressOf(subnet, place);
    try {
      await bothOf(
        Promise.resolve(process).then((pid) => this.connect(pid, subnet, { address, port })),
        this.guard.put(id, { address, port, policy }),
      );
      return { address: place, port };
    } catch (error) {
      this.leases.release(place);
      await this.guard.drop(address).catch(() => {});
      throw error;
    }
  }

  /** Changes what a connected box reaches. It holds when this resolves. Errors: HostCommandError. */
  async setPolicy(id: string, { address: place, port }: Attachment, policy: NetworkPolicy): Promise<void> {
    const address = addressOf(await this.ensure(), place);
    await this.guard.put(id, { address, port, policy });
  }

  /** Takes the box of a place out and gives the place back. */
  async release(place: number | undefined): Promise<void> {
    if (place === undefined) return;
    const subnet = await this.ready?.catch(() => undefined);
    if (subnet) await this.guard.drop(addressOf(subnet, place)).catch(() => {});
    this.leases.release(place);
  }

  /** The port at which names are asked for, on this host. */
  dnsPort(): number {
    return this.guard.port();
  }

  /** The names that a box looked up, newest first. */
  lookupsOf(id: string): readonly Lookup[] {
    return this.guard.lookupsOf(id);
  }

  /** Forgets the names of a box that is gone for good. */
  forget(id: string): void {
    this.guard.forget(id);
  }

  /** Takes up the boxes that run, gives back the places that no box has, and puts the rules up. */
  async adopt(boxes: readonly Attached[], places: ReadonlySet<number>): Promise<void> {
    this.leases.keepOnly(places);
    if (boxes.length === 0) return;
    const subnet = this.keptSubnet();
    if (subnet)
      for (const { id, pid, address, port = portOf(pid), policy } of boxes)
        if (port) this.guard.adopt(id, { address: addressOf(subnet, address), port, policy });
    this.startWatch();
    await this.check();
  }

  /** Stops looking after the rules; with `remove` bridge and tables go too. */
  async close(remove: boolean): Promise<void> {
    clearInterval(this.watch);
    this.watch = undefined;
    const known = this.isBridgeUp() || this.ready !== undefined;
    this.ready = undefined;
    this.stands = false;
    await this.guard.close(remove && known);
    if (!remove) return;
    rmSync(this.resolvConf(), { force: true });
    if (this.isBridgeUp()) await ip([`link del ${this.bridge}`]).catch(() => '');
  }

  /** Boxes know the bridge by an address that it does not have: see `RulesetSpec.owned`. */
  private async connect(pid: number, subnet: Block, { address, port }: Attachment): Promise<void> {
    const gateway = formatAddress(gatewayOf(subnet));
    await ip([
      `link add ${port} type veth peer name eth0 netns ${pid}`,
      `link set ${port} master ${this.bridge} up`,
      `link set ${port} type bridge_slave isolated on`,
    ]);
    const inside = [
      `addr add ${formatAddress(address)}/${subnet.prefix} dev eth0`,
      'link set eth0 up',
      `neigh replace ${gateway} lladdr ${hardwareAddress('door', this.options.instance)} nud permanent dev eth0`,
      `route add default via ${gateway}`,
    ];
    await ip(inside, ['nsenter', `--net=/proc/${pid}/ns/net`]);
  }

  /** Bridge and rules stand when this resolves, also when somebody else has removed them. */
  private async ensure(): Promise<Block> {
    if (this.stands && !this.isBridgeUp()) this.ready = undefined;
    this.ready ??= this.build().then(
      (subnet) => {
        this.stands = true;
        return subnet;
      },
      (error) => {
        this.ready = undefined;
        throw error;
      },
    );
    return this.ready;
  }

  private async build(): Promise<Block> {
    this.stands = false;
    const subnet = this.chooseSubnet();
    const address = `${formatAddress(gatewayOf(subnet))}/${subnet.prefix}`;
    // Without an address of its own a bridge has that of one of its boxes, and changes it when boxes come and go:
    // the others would go on sending to the old one.
    const own = hardwareAddress('bridge', this.options.instance);
    const add = `link add ${this.bridge} address ${own} type bridge mcast_snooping 0`;
    await ip([...(this.isBridgeUp() ? [] : [add]), `addr replace ${address} dev ${this.bridge}`]);
    for (const [name, value] of BRIDGE_SETTINGS)
      writeFileSync(`/proc/sys/net/${name.replace('*', this.bridge)}`, value);
    await this.hold(subnet);
    await ip([`link set ${this.bridge} up`]);
    this.startWatch();
    return subnet;
  }

  private chooseSubnet(): Block {
    const kept = this.keptSubnet();
    if (kept) return kept;
    const taken = readRoutes().map(({ block }) => block);
    const chosen = chooseSubnet(this.options.instance, taken);
    if (!chosen) throw new Error('no private subnet is free on this host');
    writeWhole(join(this.options.dir, 'subnet.json'), JSON.stringify(chosen));
    return chosen;
  }

  private keptSubnet(): Block | undefined {
    return this.isBridgeUp() ? readJson<Block>(join(this.options.dir, 'subnet.json')) : undefined;
  }

  /** Puts the rules up, again when somebody has wiped them out or when the host's networks have changed. */
  private hold(subnet: Block): Promise<void> {
    const connected = readRoutes()
      .filter((route) => route.connected && route.device !== this.bridge)
      .map(({ block }) => block);
    return this.guard.hold({ subnet, gateway: gatewayOf(subnet), connected });
  }

  private isBridgeUp(): boolean {
    return new RegExp(`^\\s*${this.bridge}:`, 'm').test(readText('/proc/self/net/dev') ?? '');
  }

  private startWatch(): void {
    if (this.watch) return;
    this.watch = setInterval(() => void this.check(), CHECK_MS);
    this.watch.unref();
  }

  /** Follows the host: other networks, and rules that a firewall's reload has wiped out. */
  private async check(): Promise<void> {
    try {
      await this.hold(await this.ensure());
    } catch (error) {
      this.options.log('error', 'sandbox network could not be checked', { error: String(error) });
    }
  }
}

/** What sets the devices and the table of an instance apart: a device has a name of 15 letters at most. */
export function markOf(instance: string): string {
  return Bun.hash.wyhash(instance).toString(36).padStart(13, '0').slice(-8);
}

/** A locally administered unicast address that something of an instance always has. */
function hardwareAddress(what: 'bridge' | 'door', instance: string): string {
  const hash = Bun.hash.wyhash(`${what} ${instance}`).toString(16).padStart(16, '0');
  return `02:${hash.slice(0, 10).match(/../g)?.join(':')}`;
}

/** Runs commands of ip(8) in one process. */
function ip(lines: readonly string[], enter: readonly string[] = []): Promise<string> {
  const [program = 'ip', ...rest] = [...enter, 'ip', '-batch', '-'];
  return run([program, ...rest], { input: `${lines.join('\n')}\n` });
}

/** The bridge speaks no IPv6, sends no redirects, and takes only packets that could have come from it. */
const BRIDGE_SETTINGS: ReadonlyArray<[string, string]> = [
  ['ipv6/conf/*/disable_ipv6', '1'],
  ['ipv4/conf/*/send_redirects', '0'],
  ['ipv4/conf/*/accept_redirects', '0'],
  ['ipv4/conf/*/rp_filter', '1'],
  ['ipv4/conf/*/arp_ignore', '1'],
];
