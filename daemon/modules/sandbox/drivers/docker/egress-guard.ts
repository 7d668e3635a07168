import { readdir, readFile } from 'node:fs/promises';
import type { Names } from './names.ts';
import type { DriverLog } from './options.ts';

/** Whether boxes with a network are kept from this host. */
export interface GuardState {
  readonly guarded: boolean;
  /** Why not; how, otherwise. */
  readonly reason: string;
}

/** Networks that are never the internet (RFC 6890 and its registry), link-local metadata services among them. */
const NOT_THE_INTERNET = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/4',
  '240.0.0.0/4',
];
const RESOLVER_FILES = ['/etc/resolv.conf', '/run/systemd/resolve/resolv.conf'];

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
    const enter = await enterNamespaceOf(this.names.bridge);
    if (!enter) return { guarded: false, reason: 'the network namespace of the engine is not on this host' };
    const rules = guardRules(this.names, await resolvers());
    const nft = Bun.spawn([...enter, 'nft', '-f', '-'], {
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

/** The rules for `nft -f`. */
export function guardRules({ table, bridge }: Names, resolverAddresses: readonly string[]): string {
  const resolver = resolverAddresses.map(
    (address) => `ip daddr ${address} meta l4proto { tcp, udp } th dport 53 accept`,
  );
  return `
table inet ${table} {}
delete table inet ${table}
table inet ${table} {
  chain input {
    type filter hook input priority -10; policy accept;
    iifname != "${bridge}" accept
    ct state established,related accept
    drop
  }
  chain forward {
    type filter hook forward priority -10; policy accept;
    iifname != "${bridge}" accept
    ct state established,related accept
    ${resolver.join('\n    ')}
    ip daddr { ${NOT_THE_INTERNET.join(', ')} } drop
    meta nfproto ipv6 drop
  }
}
`;
}

/** The words before a program that bring it to where the interface is; none when it is here. */
async function enterNamespaceOf(bridge: string): Promise<string[] | undefined> {
  if (await hasInterface('self', bridge)) return [];
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    const program = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '');
    if (program.trim() === 'dockerd' && (await hasInterface(pid, bridge)))
      return ['nsenter', `--net=/proc/${pid}/ns/net`];
  }
  return undefined;
}

async function hasInterface(pid: string, name: string): Promise<boolean> {
  const table = await readFile(`/proc/${pid}/net/dev`, 'utf8').catch(() => '');
  return table.split('\n').some((line) => line.trim().startsWith(`${name}:`));
}

/** IPv4 resolvers of this host that are not on its loopback: the engine hands those to boxes as they are. */
async function resolvers(): Promise<string[]> {
  const texts = await Promise.all(RESOLVER_FILES.map((path) => readFile(path, 'utf8').catch(() => '')));
  const found = texts.flatMap((text) => [...text.matchAll(/^\s*nameserver\s+(\d+\.\d+\.\d+\.\d+)\s*$/gm)]);
  const addresses = found.map(([, address = '']) => address).filter(isAddress);
  return [...new Set(addresses)].filter((address) => !/^(127|169\.254)\./.test(address));
}

function isAddress(text: string): boolean {
  return text.split('.').every((part) => Number(part) <= 255);
}
