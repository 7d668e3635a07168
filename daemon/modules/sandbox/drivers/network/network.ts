import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SECOND_MS } from '../../../../../src/kit/time.ts';
import { readJson, readText, writeWhole } from '../host/files.ts';
import type { HostLog } from '../host/log.ts';
import { findProgram, run } from '../host/run.ts';
import { type Block, formatAddress, formatBlock } from './address.ts';
import { Leases } from './leases.ts';
import { findResolvers, resolvConf } from './resolvers.ts';
import { readRoutes } from './routes.ts';
import { ruleset } from './ruleset.ts';
import { addressOf, chooseSubnet, gatewayOf } from './subnet.ts';

const CHECK_MS = 5 * SECOND_MS;

/**
 * The network of an instance's boxes: a bridge with a private subnet, and one nftables table. Nothing else of
 * the host's network is touched. Boxes get in only when the rules stand; a host that cannot forward or
 * filter gives its boxes no network instead of an open one.
 */
export class Network {
  readonly bridge: string;
  readonly table: string;
  private readonly mark: string;
  private readonly leases: Leases;
  private ready: Promise<Block> | undefined;
  /** Whether the bridge was made, so that a missing one means that somebody has removed it. */
  private stands = false;
  private applied = '';
  private watch: Timer | undefined;

  constructor(
    private readonly instance: string,
    private readonly dir: string,
    /** A folder that everybody may enter: the resolver files are mounted from inside a user namespace. */
    private readonly openDir: string,
    private readonly log: HostLog,
  ) {
    this.mark = markOf(instance);
    this.bridge = `svc${this.mark}`;
    this.table = `svc_${this.mark}`;
    this.leases = new Leases(join(dir, 'leases'));
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    mkdirSync(openDir, { recursive: true });
    chmodSync(openDir, 0o755);
    this.writeOpen(this.resolvConf('deny'), '');
    this.writeResolvers();
  }

  /** Why boxes have no network here; undefined when they have one. Looked up each time: both can change. */
  missing(): string | undefined {
    const lacking = ['nft', 'ip', 'nsenter'].filter((program) => !findProgram(program));
    if (lacking.length > 0) return `${lacking.join(', ')} not installed: boxes have no network`;
    if (readText('/proc/sys/net/ipv4/ip_forward')?.trim() !== '1')
      return 'net.ipv4.ip_forward is 0: boxes have no network (sysctl -w net.ipv4.ip_forward=1)';
    return undefined;
  }

  /** The file that is /etc/resolv.conf in boxes. It is rewritten in place when the host's name servers change. */
  resolvConf(network: 'allow' | 'deny'): string {
    return join(this.openDir, network === 'allow' ? 'resolv.conf' : 'no-resolv.conf');
  }

  /**
   * Connects the namespace of a process to the bridge and gives its place. Nothing has to be undone by hand:
   * both ends of the pair go when the namespace goes. Errors: HostCommandError.
   */
  async attach(pid: number): Promise<number> {
    const subnet = await this.ensure();
    await this.holdRules(subnet);
    const place = this.leases.take();
    if (place === undefined) throw new Error('every address of the subnet is taken');
    try {
      await this.connect(pid, subnet, place);
      return place;
    } catch (error) {
      this.leases.release(place);
      throw error;
    }
  }

  /** Gives back the place of a box that ended. */
  release(place: number | undefined): void {
    if (place !== undefined) this.leases.release(place);
  }

  /** Gives back the places of boxes that are no more. */
  keepOnly(places: ReadonlySet<number>): void {
    this.leases.keepOnly(places);
    if (places.size === 0) return;
    this.startWatch();
    void this.check();
  }

  /** Stops looking after the rules; with `remove` bridge and table go too. */
  async close(remove: boolean): Promise<void> {
    clearInterval(this.watch);
    this.watch = undefined;
    this.ready = undefined;
    this.stands = false;
    if (!remove) return;
    for (const network of ['allow', 'deny'] as const) rmSync(this.resolvConf(network), { force: true });
    const known = this.isBridgeUp() || this.applied !== '';
    if (this.isBridgeUp()) await ip([`link del ${this.bridge}`]).catch(() => '');
    if (known) await run(['nft', 'delete', 'table', 'inet', this.table]).catch(() => '');
    this.applied = '';
  }

  private async connect(pid: number, subnet: Block, place: number): Promise<void> {
    const outer = `v${this.mark.slice(-4)}${crypto.randomUUID().slice(0, 8)}`;
    await ip([
      `link add ${outer} type veth peer name eth0 netns ${pid}`,
      `link set ${outer} master ${this.bridge} up`,
      `link set ${outer} type bridge_slave isolated on`,
    ]);
    const inside = [
      `addr add ${formatAddress(addressOf(subnet, place))}/${subnet.prefix} dev eth0`,
      'link set eth0 up',
      `route add default via ${formatAddress(gatewayOf(subnet))}`,
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
    await this.applyRules(subnet);
    const address = `${formatAddress(gatewayOf(subnet))}/${subnet.prefix}`;
    // Without an address of its own a bridge has that of one of its boxes, and changes it when boxes come and go:
    // the others would go on sending to the old one.
    const add = `link add ${this.bridge} address ${hardwareAddress(this.instance)} type bridge mcast_snooping 0`;
    await ip([...(this.isBridgeUp() ? [] : [add]), `addr replace ${address} dev ${this.bridge}`]);
    for (const [name, value] of BRIDGE_SETTINGS)
      writeFileSync(`/proc/sys/net/${name.replace('*', this.bridge)}`, value);
    await ip([`link set ${this.bridge} up`]);
    this.startWatch();
    return subnet;
  }

  private chooseSubnet(): Block {
    const file = join(this.dir, 'subnet.json');
    const kept = readJson<Block>(file);
    if (kept && this.isBridgeUp()) return kept;
    const taken = readRoutes().map(({ block }) => block);
    const chosen = chooseSubnet(this.instance, taken);
    if (!chosen) throw new Error('no private subnet is free on this host');
    writeWhole(file, JSON.stringify(chosen));
    return chosen;
  }

  private async applyRules(subnet: Block): Promise<void> {
    const rules = this.rules(subnet);
    await run(['nft', '-f', '-'], { input: rules });
    this.applied = rules;
  }

  /** Puts the rules back when somebody has wiped them out, or when the host's networks have changed. */
  private async holdRules(subnet: Block): Promise<void> {
    const listed = await run(['nft', 'list', 'chain', 'inet', this.table, 'forward']).catch(() => '');
    if (listed.includes(formatBlock(subnet)) && this.rules(subnet) === this.applied) return;
    await this.applyRules(subnet);
    this.log('warn', 'sandbox network rules were put back', { table: this.table });
  }

  private rules(subnet: Block): string {
    const connected = readRoutes()
      .filter((route) => route.connected && route.device !== this.bridge)
      .map(({ block }) => block);
    return ruleset({ table: this.table, bridge: this.bridge, subnet, resolvers: findResolvers(), connected });
  }

  private isBridgeUp(): boolean {
    return new RegExp(`^\\s*${this.bridge}:`, 'm').test(readText('/proc/self/net/dev') ?? '');
  }

  private writeResolvers(): void {
    this.writeOpen(this.resolvConf('allow'), resolvConf(findResolvers()));
  }

  /** In place: running boxes have this very file mounted. */
  private writeOpen(path: string, text: string): void {
    if (readText(path) === text) return;
    writeFileSync(path, text);
    chmodSync(path, 0o644);
  }

  private startWatch(): void {
    if (this.watch) return;
    this.watch = setInterval(() => void this.check(), CHECK_MS);
    this.watch.unref();
  }

  /** Follows the host: other name servers, other networks, and rules that a firewall's reload has wiped out. */
  private async check(): Promise<void> {
    try {
      this.writeResolvers();
      const subnet = await this.ensure();
      await this.holdRules(subnet);
    } catch (error) {
      this.log('error', 'sandbox network could not be checked', { error: String(error) });
    }
  }
}

/** What sets the devices and the table of an instance apart: a device has a name of 15 letters at most. */
export function markOf(instance: string): string {
  return Bun.hash.wyhash(instance).toString(36).padStart(13, '0').slice(-8);
}

/** A locally administered unicast address that an instance's bridge always has. */
function hardwareAddress(instance: string): string {
  const hash = Bun.hash.wyhash(`bridge ${instance}`).toString(16).padStart(16, '0');
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
