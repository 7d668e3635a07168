import type { Config } from '../../../config/config.ts';
import { parseAddress, reachOf } from '../../../outbound/address.ts';
import { parseAllow } from '../../../outbound/allow.ts';
import { parseTarget, refusal } from '../../../outbound/target.ts';

const LOCAL_NAME = /(^|\.)localhost$/;

/**
 * Refuses at once an address to which nothing would ever be delivered: not http or https, credentials in it, or
 * a host that is plainly private. Names are judged by what they resolve to, at each delivery.
 * Errors: outbound_refused naming `url`.
 */
export function checkAddress(url: string, config: Pick<Config, 'get'>): void {
  const request = { url, field: 'url' };
  const target = parseTarget(request);
  const isAllowed = parseAllow(config.get('outbound.allow'));
  const address = LOCAL_NAME.test(target.host) ? '127.0.0.1' : target.host;
  if (!parseAddress(address)) return;
  const reach = reachOf(address);
  if (reach === 'forbidden') throw refusal(request, target.shown, 'it is a link-local or metadata address');
  if (reach !== 'public' && !isAllowed({ ...target, address }))
    throw refusal(request, target.shown, 'it is not public; the owner can name it in outbound.allow');
}
