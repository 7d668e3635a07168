import { type Block, formatBlock } from './address.ts';

/** What the rules of an instance are made of. */
export interface RulesetSpec {
  readonly table: string;
  readonly bridge: string;
  readonly subnet: Block;
  /** Name servers that boxes may ask, as addresses. */
  readonly resolvers: readonly string[];
  /** Networks that the host itself is in. */
  readonly connected: readonly Block[];
}

/**
 * Blocks that are not the internet (IANA's special-purpose registry) and the addresses at which clouds serve
 * credentials to their machines.
 */
const NOT_THE_INTERNET = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
];

/**
 * The table of an instance, as one transaction that replaces the old one (nft(8)). It says nothing about
 * traffic that is not of its bridge. From boxes: to the name servers, and to the internet; not to this host at
 * any port, not to networks, not to each other. To boxes: only answers. Nothing in IPv6.
 */
export function ruleset({ table, bridge, subnet, resolvers, connected }: RulesetSpec): string {
  const refused = [...NOT_THE_INTERNET, ...connected.map(formatBlock)].join(', ');
  const own = formatBlock(subnet);
  const names = resolvers.length > 0 ? `elements = { ${resolvers.join(', ')} };` : '';
  return `table inet ${table} {}
delete table inet ${table}
table inet ${table} {
  set resolvers { type ipv4_addr; ${names} }
  set refused { type ipv4_addr; flags interval; auto-merge; elements = { ${refused} }; }
  chain input {
    type filter hook input priority filter; policy accept;
    iifname "${bridge}" ct state established accept
    iifname "${bridge}" drop
  }
  chain forward {
    type filter hook forward priority filter; policy accept;
    iifname != "${bridge}" oifname != "${bridge}" accept
    meta nfproto ipv6 drop
    oifname "${bridge}" iifname != "${bridge}" ct state established,related accept
    oifname "${bridge}" drop
    ip saddr != ${own} drop
    ip daddr @resolvers udp dport 53 accept
    ip daddr @resolvers tcp dport 53 accept
    ip daddr @refused drop
    accept
  }
  chain postrouting {
    type nat hook postrouting priority srcnat; policy accept;
    ip saddr ${own} oifname != "${bridge}" masquerade
  }
}
`;
}
