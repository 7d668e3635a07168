import { CREDENTIAL_NETWORKS, NOWHERE_V4, PRIVATE_V4 } from '../../../../../src/kit/networks.ts';
import type { NetworkPolicy } from '../driver.ts';
import { type Block, formatAddress, formatBlock } from './address.ts';
import { blocksOf } from './policy.ts';

/** What the rules of an instance are made of, besides its boxes. */
export interface RulesetSpec {
  /** The name of the two tables, one of family inet and one of family bridge. */
  readonly table: string;
  readonly bridge: string;
  readonly subnet: Block;
  /** Networks that the host itself is in. */
  readonly connected: readonly Block[];
  /** Where boxes' questions for names go, whatever server they are meant for. */
  readonly dnsPort: number;
  /**
   * For a bridge that is ours alone: the prefix of the names of its ports, and its hardware address, which only the
   * rules put on boxes' packets. Without the rules no packet finds its way. Absent for a bridge of an engine.
   */
  readonly owned?: { readonly portPrefix: string; readonly hardwareAddress: string };
}

/** A box as the rules know it. */
export interface RuledBox {
  /** Its address as a number. */
  readonly address: number;
  /** The host's end of its cable. */
  readonly port: string;
  readonly policy: NetworkPolicy;
}

/** An address that a name led to, for one box. */
export interface LearntAddress {
  readonly address: number;
  /** One of the names. */
  readonly name: string;
  readonly expiresMs: number;
}

/** Seconds that a looked-up address stays open after it was told, and after it last answered. */
export const LEARNT_SECONDS = 600;

/** Addresses that names may open for one box at once. */
export const MAX_LEARNT_OF_BOX = 512;

/**
 * Questions for names that a box may ask in a second, and at once: what a socket holds while the daemon is busy is
 * more than that, so that one box cannot push out the questions of another.
 */
const QUESTIONS = 'limit rate over 200/second burst 100 packets';
const MOST_BOXES = 65_536;
const MAX_COMMENT = 120;

/**
 * The tables of an instance without its boxes, as one transaction that replaces the old ones (nft(8)). They say
 * nothing about traffic that is not of its bridge. Each packet of a box is judged by where it goes, one to a box by
 * where it comes from, before it matters that a connection is known: what is forbidden now ends now.
 */
export function ruleset(spec: RulesetSpec): string {
  return `table bridge ${spec.table} {}
delete table bridge ${spec.table}
table inet ${spec.table} {}
delete table inet ${spec.table}
${ports(spec)}${filter(spec)}`;
}

/** A box speaks with its own address, through its own cable, and to the bridge alone. */
function ports({ table, owned }: RulesetSpec): string {
  const [isPort, isOther] = owned
    ? [`iifname "${owned.portPrefix}*"`, `iifname != "${owned.portPrefix}*"`]
    : ['iifname @known', 'iifname != @known'];
  const onward = owned ? `ether daddr set ${owned.hardwareAddress} meta pkttype set host accept` : 'accept';
  return `table bridge ${table} {
  set known { type ifname; }
  set ports { type ifname . ipv4_addr; }
  chain prerouting {
    type filter hook prerouting priority dstnat; policy accept;
    ${isOther} accept
    ether type arp iifname . arp saddr ip @ports accept
    ether type ip iifname . ip saddr @ports ${onward}
    drop
  }
  chain forward {
    type filter hook forward priority filter; policy accept;
    ${isPort} drop
  }
}
`;
}

function filter({ table, bridge, subnet, connected, dnsPort, owned }: RulesetSpec): string {
  const own = formatBlock(subnet);
  const v4 = CREDENTIAL_NETWORKS.filter((text) => !text.includes(':'));
  const never = [...v4, ...NOWHERE_V4, own].join(', ');
  const refused = [...PRIVATE_V4, ...connected.map(formatBlock)].join(', ');
  const masquerade = `  chain postrouting {
    type nat hook postrouting priority srcnat; policy accept;
    ip saddr ${own} oifname != "${bridge}" masquerade
  }
`;
  return `table inet ${table} {
  set never { type ipv4_addr; flags interval; auto-merge; elements = { ${never} }; }
  set refused { type ipv4_addr; flags interval; auto-merge; elements = { ${refused} }; }
  set open { type ipv4_addr; }
  set blocks { type ipv4_addr . ipv4_addr; flags interval; }
  set learnt { type ipv4_addr . ipv4_addr; flags timeout, dynamic; timeout ${LEARNT_SECONDS}s; size ${MOST_BOXES * MAX_LEARNT_OF_BOX}; }
  set questions { type ipv4_addr; flags timeout, dynamic; timeout 10s; size ${MOST_BOXES}; }
  chain flood {
    type filter hook prerouting priority raw - 10; policy accept;
    iifname "${bridge}" udp dport 53 update @questions { ip saddr ${QUESTIONS} } drop
    iifname "${bridge}" tcp dport 53 tcp flags syn update @questions { ip saddr ${QUESTIONS} } drop
  }
  chain names {
    type nat hook prerouting priority dstnat - 5; policy accept;
    iifname "${bridge}" meta l4proto { tcp, udp } th dport 53 redirect to :${dnsPort}
  }
  chain input {
    type filter hook input priority filter - 10; policy accept;
    iifname != "${bridge}" accept
    meta nfproto ipv6 drop
    ip saddr != ${own} drop
    ct status dnat meta l4proto { tcp, udp } th dport ${dnsPort} accept
    ct state established ct direction reply accept
    goto refuse
  }
  chain forward {
    type filter hook forward priority filter - 10; policy accept;
    iifname "${bridge}" goto out
    oifname "${bridge}" goto in
  }
  chain out {
    meta nfproto ipv6 drop
    ip saddr != ${own} drop
    ip daddr @never goto refuse
    ip saddr . ip daddr @blocks accept
    ip saddr . ip daddr @learnt accept
    ip daddr @refused goto refuse
    ip saddr @open accept
    goto refuse
  }
  chain in {
    ct state related meta l4proto icmp accept
    ct state != established drop
    ip saddr @never drop
    ip daddr . ip saddr @blocks accept
    ip daddr . ip saddr @learnt update @learnt { ip daddr . ip saddr } accept
    ip saddr @refused drop
    ip daddr @open accept
    drop
  }
  chain refuse {
    meta l4proto tcp reject with tcp reset
    reject with icmpx admin-prohibited
  }
${owned ? masquerade : ''}}
`;
}

/** The lines that let a box in. */
export function boxLines(table: string, box: RuledBox, learnt: readonly LearntAddress[]): string {
  return elementsOf(table, box)
    .map(([set, element]) => `add element ${set} { ${element} }\n`)
    .join('')
    .concat(learntLines(table, box.address, learnt));
}

/**
 * The lines that take a box out. The kernel refuses to delete what is not there, or not any more: each is added
 * first, in the same transaction.
 */
export function goneLines(table: string, box: RuledBox, learnt: readonly LearntAddress[]): string {
  return [...elementsOf(table, box), ...pairs(table, box.address, learnt)]
    .map(([set, element]) => `add element ${set} { ${element} }\ndelete element ${set} { ${element} }\n`)
    .join('');
}

/** The lines that open addresses that names led to. */
export function learntLines(table: string, box: number, learnt: readonly LearntAddress[]): string {
  return learnt
    .map(({ address, name, expiresMs }) => {
      const seconds = Math.min(Math.max(Math.ceil(expiresMs / 1000), 1), LEARNT_SECONDS);
      const life = `timeout ${LEARNT_SECONDS}s expires ${seconds}s`;
      const comment = name.length <= MAX_COMMENT ? ` comment "${name}"` : '';
      const pair = `${formatAddress(box)} . ${formatAddress(address)}`;
      return `add element inet ${table} learnt { ${pair} ${life}${comment} }\n`;
    })
    .join('');
}

/** The lines that close addresses that names led to. */
export function forgottenLines(table: string, box: number, learnt: readonly LearntAddress[]): string {
  return pairs(table, box, learnt)
    .map(([set, element]) => `add element ${set} { ${element} }\ndelete element ${set} { ${element} }\n`)
    .join('');
}

type Element = readonly [set: string, element: string];

function pairs(table: string, box: number, learnt: readonly LearntAddress[]): Element[] {
  return learnt.map(({ address }) => [
    `inet ${table} learnt`,
    `${formatAddress(box)} . ${formatAddress(address)}`,
  ]);
}

function elementsOf(table: string, { address, port, policy }: RuledBox): Element[] {
  const own = formatAddress(address);
  const blocks: Element[] = blocksOf(policy.allowCidrs).map((block) => [
    `inet ${table} blocks`,
    `${own} . ${formatBlock(block)}`,
  ]);
  return [
    [`bridge ${table} known`, `"${port}"`],
    [`bridge ${table} ports`, `"${port}" . ${own}`],
    ...blocks,
    ...(policy.mode === 'allow' ? ([[`inet ${table} open`, own]] as Element[]) : []),
  ];
}
