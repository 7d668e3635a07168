import { Config } from '../../../config/config.ts';
import { silentLog } from '../../../log/log.ts';
import { createOutbound } from '../../../outbound/outbound.ts';
import type { Dialect, ProviderAccount } from '../../providers/index.ts';
import type { Upstream } from '../upstream/adapter.ts';
import { openUpstream } from '../upstream/open.ts';

/** What a test says of an upstream. */
export interface TestUpstreamParts {
  readonly dialect: Dialect;
  readonly baseUrl: string;
  readonly secret?: string;
  readonly settings?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** An upstream over real sockets, for tests of adapters. */
export function testUpstream({
  dialect,
  baseUrl,
  secret,
  settings = {},
  signal,
}: TestUpstreamParts): Upstream {
  const key = secret === undefined ? undefined : { id: 'pky_test', secret, weight: 1 };
  const account: ProviderAccount = {
    name: dialect,
    dialect,
    baseUrl,
    trust: 'operator',
    keys: key ? [key] : [],
    needsKey: key !== undefined,
    settings,
  };
  const outbound = createOutbound(new Config({ flags: {} }), silentLog);
  return openUpstream(outbound, { account, key, signal: signal ?? new AbortController().signal });
}
