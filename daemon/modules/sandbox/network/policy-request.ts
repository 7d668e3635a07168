import { networkInterfaces } from 'node:os';
import type { SandboxNetwork } from '../../../../src/api/sandbox/network.ts';
import type { Value } from '../../../../src/api/schema.ts';
import { type FieldViolation, invalid } from '../../../../src/errors/app-error.ts';
import { CREDENTIAL_NETWORKS, NOWHERE_V4, PRIVATE_V4 } from '../../../../src/kit/networks.ts';
import type { NetworkPolicy } from '../drivers/driver.ts';
import { type Block, formatBlock, overlaps, parseBlock } from '../drivers/network/address.ts';
import { parseHost } from '../drivers/network/host-names.ts';

/** The fields of a request that say what a sandbox reaches. */
export type NetworkRequest = Value<typeof SandboxNetwork>;

const NEVER = blocks([...CREDENTIAL_NETWORKS, ...NOWHERE_V4]);
const PRIVATE = blocks(PRIVATE_V4);

/**
 * The policy that a request asks for. `networkBlockAll` wins over the mode; without either, hosts make a whitelist of
 * it. Networks that are not public, and those of this host, must lie in one that the operator has listed.
 * @param operatorAllows the setting outbound.allow
 * Errors: invalid_argument naming each wrong entry.
 */
export function resolvePolicy(request: NetworkRequest, operatorAllows: readonly string[]): NetworkPolicy {
  const { networkAllowCidrs: cidrs = [], networkAllowHosts: hosts = [] } = request;
  const mode = modeOf(request);
  const [first, ...rest] = [
    ...cidrs.flatMap((text, i) => violation(`networkAllowCidrs[${i}]`, badBlock(text, operatorAllows))),
    ...hosts.flatMap((text, i) => violation(`networkAllowHosts[${i}]`, badHost(text))),
    ...(hosts.length > 0 && mode !== 'whitelist'
      ? violation('networkAllowHosts', `goes with the networkMode whitelist, not with ${mode}`)
      : []),
  ];
  if (first) throw invalid(first, ...rest);
  return {
    mode,
    allowCidrs: [...new Set(cidrs)],
    allowHosts: [...new Set(hosts.flatMap((text) => parseHost(text) ?? []))],
  };
}

/** A policy in the fields of a request, for answers. */
export function toNetwork({ mode, allowCidrs, allowHosts }: NetworkPolicy): NetworkRequest {
  return {
    networkMode: mode,
    networkBlockAll: mode === 'deny',
    networkAllowCidrs: [...allowCidrs],
    networkAllowHosts: [...allowHosts],
  };
}

function modeOf({ networkMode, networkBlockAll, networkAllowHosts = [] }: NetworkRequest) {
  const isListed = networkAllowHosts.length > 0;
  if (networkBlockAll) return isListed && networkMode !== 'deny' ? 'whitelist' : 'deny';
  return networkMode ?? (isListed ? 'whitelist' : 'allow');
}

function violation(field: string, description: string | undefined): FieldViolation[] {
  return description === undefined ? [] : [{ field, description }];
}

function badBlock(text: string, operatorAllows: readonly string[]): string | undefined {
  if (text.includes(':')) return 'is IPv6, which sandboxes do not speak to the outside';
  const block = text.includes('/') ? parseBlock(text) : undefined;
  if (!block) return 'is not an IPv4 network such as 203.0.113.0/24';
  const canonical = formatBlock(block);
  if (canonical !== text) return `is not the beginning of a network; ${canonical} is`;
  if (NEVER.some((never) => overlaps(never, block)))
    return 'holds addresses that are never open: this machine itself, link-local ones, or the credentials of a cloud';
  const isOurs = [...PRIVATE, ...hostNetworks()].some((network) => overlaps(network, block));
  if (!isOurs || blocks(operatorAllows).some((allowed) => contains(allowed, block))) return undefined;
  return 'is not public; the operator of this instance can open it with the setting outbound.allow';
}

function badHost(text: string): string | undefined {
  return parseHost(text) === undefined
    ? 'is not a host name such as example.com, *.example.com or @registries'
    : undefined;
}

/** The IPv4 networks that this host is in. */
function hostNetworks(): Block[] {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return blocks(addresses.flatMap(({ cidr }) => cidr ?? []));
}

function blocks(texts: readonly string[]): Block[] {
  return texts.flatMap((text) => parseBlock(text) ?? []);
}

function contains(outer: Block, inner: Block): boolean {
  return outer.prefix <= inner.prefix && overlaps(outer, inner);
}
