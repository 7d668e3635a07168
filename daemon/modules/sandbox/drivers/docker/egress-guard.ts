import { readdir, readFile } from 'node:fs/promises';
import { formatBlock } from '../network/address.ts';
import { findResolvers } from '../network/resolvers.ts';
import { readRoutes } from '../network/routes.ts';
import type { Names } from './names.ts';
import type { DriverLog } from './options.ts';

/** Whether boxes with a network are kept from this host. */
export interface GuardState {
  readonly guarded: boolean;
  /** Why not; how, otherwise. */
  readonly reason: string;
}

/** Networks that are never the internet (RFC 6890), and addresses at which clouds serve credentials to their machines. */
const NOT_THE_INTERNET = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/3',
];

/**
 * The rules that the engine's own do not have: nothing from the bridge to this host's addresses, to private
 * networks or to link-local ones, but DNS to the resolvers that the engine hands to boxes. They are one
 * nftables table of our own in the network namespace of the engine; other firewalls go on beside it.
 */
export class EgressGuard {
  constructor(
    private readonly names: Names,
    private readonly log: DriverLog,
  ) {}

  /** Puts the rules up, in one transaction. Never throws: what keeps it from doing so is the reason. */
  async raise(): Promise<GuardState> {
    const lacks = missingMeans();
    if (lacks) return { guarded: false, reason: lacks };
    const place = await findPlace((pid) => hasInterface(pid, this.names.bridge));
    if (!place) return { guarded: false, reason: 'the engine does not run on this host' };
    const rules = guardRules(this.names, findResolvers(), place.connected);
    const nft = Bun.spawn([...place.enter, 'nft', '-f', '-'], {
      stdin: Buffer.from(rules),
      stdout: 'ignore',
      stderr: 'pipe',
    });
    const [code, words] = await Promise.all([nft.exited, new Response(nft.stderr).text()]);
    if (code === 0) return { guarded: true, reason: `nftables table inet ${this.names.table}` };
    this.log('warn', 'the guard of the box network was refused', { nft: words });
    return { guarded: false, reason: `nftables refused the rules: ${words.trim().split('\n')[0]}` };
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

/** The rules for `nft -f`. */
export function guardRules(
  { table, bridge }: Names,
  resolvers: readonly string[],
  connected: readonly string[],
): string {
  const refused = [...NOT_THE_INTERNET, ...connected].join(', ');
  const elements = resolvers.length > 0 ? `elements = { ${resolvers.join(', ')} };` : '';
  return `table inet ${table} {}
delete table inet ${table}
table inet ${table} {
  set resolvers { type ipv4_addr; ${elements} }
  set refused { type ipv4_addr; flags interval; auto-merge; elements = { ${refused} }; }
  chain input {
    type filter hook input priority -10; policy accept;
    iifname != "${bridge}" accept
    ct state established,related accept
    reject with icmpx admin-prohibited
  }
  chain forward {
    type filter hook forward priority -10; policy accept;
    iifname != "${bridge}" accept
    meta nfproto ipv6 drop
    ct state established,related accept
    ip daddr @resolvers meta l4proto { tcp, udp } th dport 53 accept
    ip daddr @refused reject with icmpx admin-prohibited
  }
}
`;
}

/** Where the engine's interfaces are, as seen from this process. */
interface EnginePlace {
  /** The words before a program that bring it there; none when it is here. */
  readonly enter: readonly string[];
  /** The networks that the engine's host is in, the boxes' own among them. */
  readonly connected: readonly string[];
}

async function findPlace(isThere: (pid: string) => Promise<boolean>): Promise<EnginePlace | undefined> {
  if (await isThere('self')) return { enter: [], connected: await connectedTo('self') };
  for (const pid of await enginePids())
    if (await isThere(pid))
      return { enter: ['nsenter', `--net=/proc/${pid}/ns/net`], connected: await connectedTo(pid) };
  return undefined;
}

async function enginePids(): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const programs = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')),
  );
  return pids.filter((_, i) => programs[i]?.trim() === 'dockerd');
}

async function hasInterface(pid: string, name: string): Promise<boolean> {
  const table = await readFile(`/proc/${pid}/net/dev`, 'utf8').catch(() => '');
  return table.split('\n').some((line) => line.trim().startsWith(`${name}:`));
}

async function connectedTo(pid: string): Promise<string[]> {
  const routes = readRoutes(await readFile(`/proc/${pid}/net/route`, 'utf8').catch(() => ''));
  return routes.filter(({ connected }) => connected).map(({ block }) => formatBlock(block));
}
