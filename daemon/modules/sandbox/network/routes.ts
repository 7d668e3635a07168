import { sandboxNetwork } from '../../../../src/api/sandbox/network.ts';
import { invalid } from '../../../../src/errors/app-error.ts';
import { pageOf } from '../../../../src/kit/page.ts';
import { rfc3339 } from '../../../../src/kit/time.ts';
import { implement, type Route } from '../../../http/route.ts';
import type { Lookup } from '../drivers/driver.ts';
import { toNetwork } from './policy-request.ts';
import type { NetworkService } from './service.ts';

/** The operations on what sandboxes reach. */
export function networkRoutes(network: NetworkService): Route[] {
  return implement(sandboxNetwork, {
    GetSandboxNetwork: ({ caller, params }) => ({
      network: toNetwork(network.get(caller.tenant, params.sandboxId)),
    }),
    SetSandboxNetwork: async ({ caller, params, body }) => {
      const { networkMode, networkBlockAll, networkAllowHosts } = body;
      if (networkMode === undefined && !networkBlockAll && !networkAllowHosts?.length)
        throw invalid({ field: 'networkMode', description: 'is required' });
      return { network: toNetwork(await network.change(caller.tenant, params.sandboxId, body)) };
    },
    ListSandboxLookups: ({ caller, params, query }) => {
      const all = network.lookups(caller.tenant, params.sandboxId);
      const found = query.verdict ? all.filter(({ verdict }) => verdict === query.verdict) : all;
      const { limit, offset } = pageOf(query);
      return { lookups: found.slice(offset, offset + limit).map(toLookup), total: found.length };
    },
  });
}

function toLookup({ at, name, type, verdict, addresses }: Lookup) {
  return { time: rfc3339(at), domain: name, queryType: type, verdict, addresses: [...addresses] };
}
