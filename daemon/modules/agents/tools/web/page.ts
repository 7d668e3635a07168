import { fail } from '../../../../../src/errors/app-error.ts';
import type { Outbound } from '../../../../outbound/outbound.ts';

/** An answer, and where it came from in the end. */
export interface Page {
  readonly url: string;
  readonly response: Response;
}

const MOST_HOPS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const ACCEPT = 'text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.5';

/**
 * Gets what is at an address. Redirects are followed, at most five, and each hop is judged like the first: no address of this
 * machine or its network is ever called. Errors: outbound_refused, upstream_failed, upstream_timeout, cancelled.
 */
export async function getPage(
  outbound: Pick<Outbound, 'fetch'>,
  address: string,
  signal: AbortSignal,
): Promise<Page> {
  let url = address;
  for (let hop = 0; hop <= MOST_HOPS; hop++) {
    const headers = { accept: ACCEPT, 'accept-encoding': 'identity' };
    const response = await outbound.fetch({ url, headers, signal, trust: 'tenant', field: 'url' });
    const to = REDIRECTS.has(response.status) ? response.headers.get('location') : null;
    if (to === null) return { url, response };
    await response.body?.cancel().catch(() => undefined);
    url = nextOf(url, to);
  }
  throw fail('upstream_failed', { message: `${address} redirects more than ${MOST_HOPS} times.` });
}

function nextOf(url: string, to: string): string {
  const next = URL.parse(to, url);
  if (next && (next.protocol === 'https:' || next.protocol === 'http:')) return next.href;
  throw fail('upstream_failed', { message: `${url} redirects to what is no web address.` });
}
