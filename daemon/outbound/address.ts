import ipaddr from 'ipaddr.js';
import { CREDENTIAL_NETWORKS } from '../../src/kit/networks.ts';

/** What an address may be used for: anyone, the operator and what it allows, or nobody at all. */
export type Reach = 'public' | 'private' | 'forbidden';

type Range = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

const FORBIDDEN: readonly Range[] = CREDENTIAL_NETWORKS.map((text) => ipaddr.parseCIDR(text));

/** Global unicast; whatever is outside was never given to anybody (RFC 4291, IANA registry). */
const GLOBAL_V6 = ipaddr.parseCIDR('2000::/3');

const MAPPED = ipaddr.parseCIDR('::ffff:0:0/96');

/** Prefixes before an IPv4 address in the last 32 bits: compatible, translated, NAT64 (RFC 4291, 6145, 6052, 8215). */
const V4_AT_END = ['::/96', '::ffff:0:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48'].map((text) =>
  ipaddr.parseCIDR(text),
);

/** Reads an address in the form that resolvers and URLs use; undefined when the text is a name. */
export function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  if (!ipaddr.IPv6.isValid(text)) return undefined;
  const address = ipaddr.IPv6.parse(inGroups(text));
  return within(address, MAPPED) ? address.toIPv4Address() : address;
}

/** Without dotted parts: ipaddr.js takes `::8.8.8.8` for the mapped address, which it is not. */
function inGroups(text: string): string {
  const host = text.includes('.') ? URL.parse(`http://[${text}]`)?.hostname : undefined;
  return host ? host.slice(1, -1) : text;
}

/** Whether an address lies in a range; false across families. */
export function within(address: ipaddr.IPv4 | ipaddr.IPv6, [network, bits]: Range): boolean {
  return address.kind() === network.kind() && address.match(network, bits);
}

/**
 * How far an address reaches. Every special range of the IANA registries is private, and so is every form
 * of IPv6 that carries an IPv4 address. What cannot be read, or has a zone, is forbidden.
 */
export function reachOf(text: string): Reach {
  const address = text.includes('%') ? undefined : parseAddress(text);
  if (!address || isForbidden(address)) return 'forbidden';
  if (address instanceof ipaddr.IPv6 && (!within(address, GLOBAL_V6) || isIsatap(address))) return 'private';
  return address.range() === 'unicast' ? 'public' : 'private';
}

function isForbidden(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (FORBIDDEN.some((range) => within(address, range))) return true;
  return address instanceof ipaddr.IPv6 && carriedV4(address).some((inner) => isForbidden(inner));
}

/** The IPv4 addresses that an IPv6 address leads to through translators and tunnels. */
function carriedV4(address: ipaddr.IPv6): ipaddr.IPv4[] {
  const bytes = address.toByteArray();
  const at = (offset: number, mask = 0) =>
    new ipaddr.IPv4(bytes.slice(offset, offset + 4).map((byte) => byte ^ mask));
  const range = address.range();
  if (range === '6to4') return [at(2)];
  if (range === 'teredo') return [at(4), at(12, 0xff)];
  if (V4_AT_END.some((prefix) => within(address, prefix)) || isIsatap(address)) return [at(12)];
  return [];
}

/** RFC 5214: the interface id `0:5efe` before an IPv4 address. */
function isIsatap({ parts }: ipaddr.IPv6): boolean {
  return parts[5] === 0x5efe && (parts[4] === 0 || parts[4] === 0x200);
}
