import ipaddr from 'ipaddr.js';
import { invalid } from '../../src/errors/app-error.ts';
import { parseAddress, within } from './address.ts';

/** Where a call goes: the name or address of the URL, the address it resolved to, the port. */
export interface Destination {
  readonly host: string;
  readonly address: string;
  readonly port: number;
}

/** Whether the owner of the instance lets tenants call a private destination. */
export type Allowed = (destination: Destination) => boolean;

/**
 * Reads `outbound.allow`: names, addresses and CIDRs, each with an optional `:port` (`[::1]:80` for IPv6).
 * Errors: invalid_argument naming the entry that cannot be read.
 */
export function parseAllow(entries: readonly string[]): Allowed {
  const rules = entries.map(parseEntry);
  return (destination) => rules.some((rule) => rule(destination));
}

function parseEntry(entry: string): Allowed {
  const { host, port } = splitPort(entry.trim().toLowerCase());
  const matches = hostRule(host, entry);
  return (destination) => (port === undefined || port === destination.port) && matches(destination);
}

function splitPort(text: string): { host: string; port?: number } {
  const match = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text);
  if (!match) return { host: text };
  const host = match[1] ?? match[2] ?? '';
  return match[3] === undefined ? { host } : { host, port: Number(match[3]) };
}

function hostRule(host: string, entry: string): Allowed {
  if (ipaddr.isValidCIDR(host)) {
    const range = ipaddr.parseCIDR(host);
    return ({ address }) => {
      const parsed = parseAddress(address);
      return parsed !== undefined && within(parsed, range);
    };
  }
  const literal = parseAddress(host)?.toString();
  if (literal) return ({ address }) => parseAddress(address)?.toString() === literal;
  if (/^(?!.*\.\d+$)(?!\d+$)[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/.test(host))
    return (destination) => destination.host === host;
  throw invalid({
    field: 'outbound.allow',
    description: `${JSON.stringify(entry)} is no name, address or CIDR with an optional :port`,
  });
}
