import { networkInterfaces } from 'node:os';
import { readText } from '../host/files.ts';
import { parseAddress } from './address.ts';

/** Where hosts name their name servers: the file of programs, then what a local resolver itself asks. */
const FILES = [
  '/etc/resolv.conf',
  '/run/systemd/resolve/resolv.conf',
  '/run/NetworkManager/no-stub-resolv.conf',
];
const MAX_SERVERS = 3;

/**
 * The name servers that boxes can use: those of the host, when they are other machines. One on the host itself
 * (127.0.0.53, a local dnsmasq) is out of reach for boxes; then those that it asks. Empty when none is known.
 */
export function findResolvers(
  read: (path: string) => string | undefined = readText,
  own = ownAddresses(),
): string[] {
  for (const path of FILES) {
    const servers = nameServers(read(path) ?? '').filter((address) => isElsewhere(address, own));
    if (servers.length > 0) return servers.slice(0, MAX_SERVERS);
  }
  return [];
}

/** The file that boxes have as /etc/resolv.conf. */
export function resolvConf(servers: readonly string[]): string {
  return servers.map((server) => `nameserver ${server}\n`).join('');
}

function nameServers(text: string): string[] {
  return [...text.matchAll(/^\s*nameserver\s+(\S+)/gm)].map(([, server = '']) => server);
}

function isElsewhere(address: string, own: ReadonlySet<string>): boolean {
  const value = parseAddress(address);
  return value !== undefined && value >>> 24 !== 127 && value >>> 24 !== 0 && !own.has(address);
}

function ownAddresses(): Set<string> {
  return new Set(
    Object.values(networkInterfaces()).flatMap((list) => list?.map(({ address }) => address) ?? []),
  );
}
