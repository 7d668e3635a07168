import { readText } from '../host/files.ts';
import type { NameServer } from './dns/upstream.ts';

const FILE = '/etc/resolv.conf';
const MAX_SERVERS = 3;
const DNS_PORT = 53;
/** How long the file of the host is taken to be as it was. */
const READ_AGAIN_MS = 2_000;

/**
 * The address that boxes have as their name server. Whatever server they ask, the question goes to the forwarder of
 * this daemon; where the rules that see to it are missing, this address (RFC 5737) leads nowhere.
 */
export const BOX_NAME_SERVER = '192.0.2.53';

/** The name servers of this host, those on itself among them: it is the daemon that asks. Empty when it knows none. */
export function hostNameServers(text = readText(FILE) ?? ''): NameServer[] {
  return [...text.matchAll(/^\s*nameserver\s+(\S+)/gm)]
    .map(([, hostname = '']) => hostname)
    .filter((hostname) => /^[\d.]+$|^[\da-f:.]*:[\da-f:.]*$/i.test(hostname))
    .slice(0, MAX_SERVERS)
    .map((hostname) => ({ hostname, port: DNS_PORT }));
}

/**
 * The name servers that a setting names (`192.0.2.1`, `127.0.0.1:5353`, `[::1]:53`), else those of the host, followed
 * when they change.
 */
export function nameServers(wanted: readonly string[], now = () => performance.now()): () => NameServer[] {
  const chosen = wanted.flatMap((text) => parseServer(text) ?? []);
  if (chosen.length > 0) return () => chosen;
  let known: NameServer[] = [];
  let readAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (now() - readAt < READ_AGAIN_MS) return known;
    readAt = now();
    known = hostNameServers();
    return known;
  };
}

/** Reads an address with an optional port; undefined when it is none. */
export function parseServer(text: string): NameServer | undefined {
  const match = /^(?:\[([\da-fA-F:.]+)\]|([\d.]+))(?::(\d{1,5}))?$/.exec(text.trim());
  const hostname = match?.[1] ?? match?.[2];
  const port = Number(match?.[3] ?? DNS_PORT);
  return hostname === undefined || port < 1 || port > 65_535 ? undefined : { hostname, port };
}
