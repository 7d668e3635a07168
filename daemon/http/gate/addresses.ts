/** The octets of a dotted IPv4 address; undefined when the text is none. Only the canonical form counts. */
export function ipv4Octets(text: string): readonly [number, number, number, number] | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  if (!match) return undefined;
  const octets = match.slice(1).map(Number) as [number, number, number, number];
  return octets.every((octet) => octet <= 255) ? octets : undefined;
}

/** Whether a host (a name or an address, without port and brackets) is this machine's loopback. */
export function isLoopback(host: string): boolean {
  const plain = host.startsWith('::ffff:') ? host.slice('::ffff:'.length) : host;
  return plain === 'localhost' || plain === '::1' || ipv4Octets(plain)?.[0] === 127;
}

/** Whether a listener on this address takes calls on every interface. */
export function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::' || host === '';
}

/**
 * Whether a host counts as local for the Secure flag of the cookie: localhost and its subdomains,
 * loopback addresses, 10/8, 172.16/12, 192.168/16 and 100.64/10 (spec, Session cookie properties).
 */
export function isLocalNetwork(host: string): boolean {
  if (isLoopback(host) || host.endsWith('.localhost')) return true;
  const octets = ipv4Octets(host);
  if (!octets) return false;
  const [first, second] = octets;
  return (
    first === 10 ||
    (first === 172 && second >= 16 && second <= 31) ||
    (first === 192 && second === 168) ||
    (first === 100 && second >= 64 && second <= 127)
  );
}

/** The host of a Host header without its port and brackets, in lower case. */
export function hostName(header: string): string {
  const match = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(header.toLowerCase());
  return match?.[1] ?? match?.[2] ?? '';
}

/** A host and a port as they stand in a Host header: IPv6 addresses in brackets, port 80 left out. */
export function hostHeaders(host: string, port: number): readonly string[] {
  const name = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  const whole = `${name}:${port}`.toLowerCase();
  return port === 80 ? [name.toLowerCase(), whole] : [whole];
}
