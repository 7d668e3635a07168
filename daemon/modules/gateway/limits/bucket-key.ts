import type { RateLimitValue } from '../../settings/index.ts';
import type { ModelCall } from '../pipeline/call.ts';

/**
 * What has a bucket of its own within a tenant. Only what the gate has proven and what the kernel says of the
 * connection: a name that callers choose would let them choose a new bucket for each request.
 *
 * - `correlation`: the most exact that is known of the caller: the key, or else the person, or else the address.
 * - `api_key`: the key; callers without one share a bucket.
 * - `user_id`: the person, over all their keys; keys of the team, which have no person, share a bucket.
 * - `ip`: the address of the peer; an IPv6 address counts by its /64, which is what one host is given.
 */
export function bucketKey(source: RateLimitValue['keySource'], { caller, peer }: ModelCall): string {
  switch (source) {
    case 'api_key':
      return caller.via === 'api-key' ? caller.actor : '';
    case 'user_id':
      return caller.userId ?? '';
    case 'ip':
      return hostOf(peer());
    default:
      return caller.via === 'api-key' ? caller.actor : (caller.userId ?? hostOf(peer()));
  }
}

const GROUPS_OF_HOST = 4;

/** An address as far as it names a host: IPv4 whole, IPv6 without its interface part. */
export function hostOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped?.[1]) return mapped[1];
  if (!address.includes(':')) return address;
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::');
  const front = head === '' ? [] : head.split(':');
  const back = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length);
  const groups = [...front, ...Array<string>(zeros).fill('0'), ...back];
  const network = groups.slice(0, GROUPS_OF_HOST).map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''));
  return `${network.join(':')}::/64`;
}
