import { endpoint, type Group } from '../endpoint.ts';
import { fields, ids, int32, model, oneOf, t, timestamp } from '../schema.ts';

/** Most entries of a policy's two lists. */
export const MOST_CIDRS = 10;
export const MOST_HOSTS = 100;

/** What a sandbox reaches (spec, Create-sandbox fields; networkAllowHosts is ours). */
export const networkFields = {
  networkMode: oneOf('allow', 'whitelist', 'deny'),
  networkBlockAll: t.Boolean({ description: 'Blocks egress, except to networkAllowCidrs.' }),
  networkAllowCidrs: t.Array(t.String(), {
    maxItems: MOST_CIDRS,
    description: 'IPv4 networks that stay open whatever the mode, such as 203.0.113.0/24.',
  }),
  networkAllowHosts: t.Array(t.String(), {
    maxItems: MOST_HOSTS,
    description: 'For the mode whitelist: names, *.example.com for all below one, or @registries.',
  }),
};

/** What a sandbox reaches outside. */
export const SandboxNetwork = model('SandboxNetwork', networkFields);

/** A name that a sandbox looked up. */
export const SandboxLookup = model('SandboxLookup', {
  time: timestamp(),
  domain: t.String(),
  queryType: t.String({ description: 'A, AAAA, TXT...' }),
  verdict: oneOf('allowed', 'denied', 'failed'),
  addresses: t.Array(t.String(), { description: 'The IPv4 addresses that it was told.' }),
});

const here = { spec: 'extra', tag: 'Sandbox network' } as const;
const NetworkResponse = model('SandboxNetworkResponse', { network: SandboxNetwork });

/** What a sandbox reaches, and which names it looked up. */
export const sandboxNetwork = {
  GetSandboxNetwork: endpoint({
    ...here,
    id: 'GetSandboxNetwork',
    method: 'GET',
    path: '/v1/sandbox/{sandboxId}/network',
    summary: 'Show what a sandbox reaches',
    params: ids('sandboxId'),
    query: fields({ tenantId: t.String() }),
    response: NetworkResponse,
    access: 'viewer',
  }),
  SetSandboxNetwork: endpoint({
    ...here,
    id: 'SetSandboxNetwork',
    method: 'PUT',
    path: '/v1/sandbox/{sandboxId}/network',
    summary: 'Change what a sandbox reaches, at once, open connections included',
    params: ids('sandboxId'),
    body: model('SetSandboxNetworkRequest', { tenantId: t.String(), ...networkFields }),
    response: NetworkResponse,
    access: 'member',
  }),
  ListSandboxLookups: endpoint({
    ...here,
    id: 'ListSandboxLookups',
    method: 'GET',
    path: '/v1/sandbox/{sandboxId}/network/log',
    summary: 'List the names that a sandbox looked up, newest first',
    params: ids('sandboxId'),
    query: fields({
      tenantId: t.String(),
      verdict: oneOf('allowed', 'denied', 'failed'),
      limit: int32(),
      offset: int32(),
    }),
    response: model('ListSandboxLookupsResponse', { lookups: t.Array(SandboxLookup), total: int32() }),
    access: 'viewer',
  }),
} satisfies Group;
