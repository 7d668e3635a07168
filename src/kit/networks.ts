/** Link-local networks, and the addresses at which clouds serve the credentials of a machine. Never to be called. */
export const CREDENTIAL_NETWORKS = [
  '169.254.0.0/16',
  'fe80::/10',
  'fd00:ec2::/32',
  'fd20:ce::254/128',
  'fd00:42::42/128',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
] as const;

/** IPv4 networks that are nobody's place: this host, its loopback, groups and reserved space (RFC 6890). */
export const NOWHERE_V4 = ['0.0.0.0/8', '127.0.0.0/8', '224.0.0.0/3'] as const;

/** IPv4 networks that are not the internet (IANA's special-purpose registry), besides those that are nowhere. */
export const PRIVATE_V4 = [
  '10.0.0.0/8',
  '100.64.0.0/10',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
] as const;
