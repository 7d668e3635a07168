import type { WireResponse } from '../wire.ts';
import type { Ask, Tenant } from './tenant.ts';

/** What one tenant does, perhaps to a thing of the other. */
export interface Action {
  readonly name: string;
  /** What it names: the ids come out of a tenant's things of this kind. */
  readonly names?: Kind;
  readonly ask: (id: string, context: Context) => Ask;
  /** Takes up what a success has changed. */
  readonly learn?: (tenant: Tenant, response: WireResponse, id: string, context: Context) => unknown;
}

/** Kinds of things that can be named. */
export type Kind = 'key' | 'invitation' | 'sandbox' | 'user' | 'tenant';

/** What an action is done with. */
export interface Context {
  readonly tenant: Tenant;
  readonly other: Tenant;
  /** A label of this sequence. */
  readonly run: string;
  /** A small number, for names that both tenants use. */
  readonly pick: number;
}

interface MadeKey {
  readonly apiKey: { readonly id: string; readonly name: string };
  readonly key: string;
}

const key = '/v1/api-key';
const box = '/v1/sandbox';

function takeKey(tenant: Tenant, { text }: WireResponse): void {
  const { apiKey, key: secret } = JSON.parse(text) as MadeKey;
  tenant.keys.set(apiKey.id, { name: apiKey.name, secret });
}

/** The same answer may come again, after the key was changed or deleted. */
function takeKeyOnce(tenant: Tenant, response: WireResponse): void {
  const { apiKey } = JSON.parse(response.text) as MadeKey;
  if (tenant.repeatable.has(apiKey.id)) return;
  tenant.repeatable.add(apiKey.id);
  takeKey(tenant, response);
}

function takeInvitation(tenant: Tenant, { text }: WireResponse): void {
  const { invitation } = JSON.parse(text) as { invitation: { id: string; email: string } };
  tenant.invitations.set(invitation.id, invitation.email);
}

/** A sandbox that could not be made is in the list; the answer was 503. */
async function takeSandboxes(tenant: Tenant, _: WireResponse, __: string, { run }: Context): Promise<void> {
  const target = `${box}/instances?label_filter=run=${run}&limit=500`;
  const { instances } = await tenant.read<{
    instances: Array<{ id: string; name: string; sessionId: string }>;
  }>(target);
  for (const { id, name, sessionId } of instances) tenant.sandboxes.set(id, { id, name, sessionId });
}

const of = (tenant: Tenant, words: string) => `${words}, made by ${tenant.name}`;
const sameKey = ({ run, pick }: Context) => [['idempotency-key', `${run}-${pick % 2}`]] as const;

const keys: readonly Action[] = [
  {
    name: 'create a key',
    ask: (_, { tenant }) => ({ method: 'POST', target: `${key}/create`, body: { name: of(tenant, 'key') } }),
    learn: takeKey,
  },
  {
    name: 'create a key with an idempotency key that the other uses too',
    ask: (_, context) => ({
      method: 'POST',
      target: `${key}/create`,
      body: { type: 'API_KEY_TYPE_ORG' },
      headers: sameKey(context),
    }),
    learn: takeKeyOnce,
  },
  {
    name: 'create a key for somebody',
    names: 'user',
    ask: (userId) => ({
      method: 'POST',
      target: `${key}/create`,
      body: { type: 'API_KEY_TYPE_USER', userId },
    }),
    learn: takeKey,
  },
  {
    name: 'create a key for an organization',
    names: 'tenant',
    ask: (orgId) => ({ method: 'POST', target: `${key}/create`, body: { orgId } }),
    learn: takeKey,
  },
  { name: 'list keys', ask: () => ({ method: 'GET', target: `${key}/list` }) },
  {
    name: 'list keys of somebody',
    names: 'user',
    ask: (id) => ({ method: 'GET', target: `${key}/list?userId=${id}` }),
  },
  {
    name: 'list keys of an organization',
    names: 'tenant',
    ask: (id) => ({ method: 'GET', target: `${key}/list?orgId=${id}` }),
  },
  { name: 'get a key', names: 'key', ask: (id) => ({ method: 'GET', target: `${key}/${id}` }) },
  {
    name: 'rename a key',
    names: 'key',
    ask: (id, { tenant }) => {
      const name = encodeURIComponent(of(tenant, 'renamed'));
      return { method: 'POST', target: `${key}/update?id=${id}&name=${name}` };
    },
    learn: (tenant, _, id) => {
      const known = tenant.keys.get(id);
      if (known) tenant.keys.set(id, { ...known, name: of(tenant, 'renamed') });
    },
  },
  {
    name: 'give an own key to somebody',
    names: 'user',
    ask: (userId, { tenant }) => {
      const [own = 'key_nothing'] = tenant.keys.keys();
      return { method: 'POST', target: `${key}/update?id=${own}&userId=${userId}&type=API_KEY_TYPE_USER` };
    },
  },
  {
    name: 'regenerate a key',
    names: 'key',
    ask: (id) => ({ method: 'POST', target: `${key}/regenerate?id=${id}` }),
    learn: takeKey,
  },
  {
    name: 'delete a key',
    names: 'key',
    ask: (id) => ({ method: 'DELETE', target: `${key}/${id}` }),
    learn: (tenant, _, id) => tenant.keys.delete(id),
  },
];

const team: readonly Action[] = [
  {
    name: 'invite an address that the other may have invited',
    ask: (_, { run, pick }) => ({
      method: 'POST',
      target: '/v1/auth/invite',
      body: { email: `guest${pick}-${run}@example.com` },
    }),
    learn: takeInvitation,
  },
  {
    name: 'withdraw an invitation',
    names: 'invitation',
    ask: (id) => ({ method: 'DELETE', target: `/v1/auth/invite/${id}` }),
    learn: (tenant, _, id) => tenant.invitations.delete(id),
  },
  { name: 'list the team', ask: () => ({ method: 'GET', target: '/v1/auth/team' }) },
  {
    name: 'remove somebody',
    names: 'user',
    ask: (id) => ({ method: 'DELETE', target: `/v1/auth/team/${id}` }),
  },
  { name: 'ask who is signed in', ask: () => ({ method: 'GET', target: '/v1/auth/session' }) },
  { name: 'make a launch URL', ask: () => ({ method: 'POST', target: '/v1/auth/launch', body: {} }) },
];

const named = (name: string, method: string, target: (id: string) => string, body?: object): Action => ({
  name,
  names: 'sandbox',
  ask: (id) => ({ method, target: target(id), body }),
});

const sandboxes: readonly Action[] = [
  {
    name: 'create a sandbox of a name that the other may use',
    ask: (_, { tenant, run, pick }) => ({
      method: 'POST',
      target: box,
      body: { name: `box${pick}-${run}`, labels: { run, by: of(tenant, 'box') } },
    }),
    learn: takeSandboxes,
  },
  {
    name: 'create a sandbox with an idempotency key that the other uses too',
    ask: (_, context) => ({
      method: 'POST',
      target: box,
      body: { labels: { run: context.run } },
      headers: sameKey(context),
    }),
    learn: takeSandboxes,
  },
  {
    name: 'create a sandbox in a session of a name that the other may use',
    ask: (_, { run, pick }) => ({
      method: 'POST',
      target: box,
      body: { sessionId: `shared-${pick}-${run}`, labels: { run } },
    }),
    learn: takeSandboxes,
  },
  {
    name: 'create a sandbox in a tenant',
    names: 'tenant',
    ask: (tenantId, { run }) => ({ method: 'POST', target: box, body: { tenantId, labels: { run } } }),
    learn: takeSandboxes,
  },
  {
    name: 'create a sandbox like another one',
    names: 'sandbox',
    ask: (sandboxId) => ({ method: 'POST', target: `${box}/recreate`, body: { sandboxId } }),
    learn: takeSandboxes,
  },
  { name: 'list sandboxes', ask: () => ({ method: 'GET', target: `${box}/instances?limit=500` }) },
  {
    name: 'list sandboxes with a label',
    ask: (_, { run }) => ({ method: 'GET', target: `${box}/instances?label_filter=run=${run}` }),
  },
  {
    name: 'list sandboxes of a tenant',
    names: 'tenant',
    ask: (id) => ({ method: 'GET', target: `${box}/instances?tenantId=${id}` }),
  },
  {
    name: 'sum up a tenant',
    names: 'tenant',
    ask: (id) => ({ method: 'GET', target: `${box}/overview?tenantId=${id}` }),
  },
  named('get a sandbox', 'GET', (id) => `${box}/instances/${id}`),
  named('list its events', 'GET', (id) => `${box}/${id}/events`),
  named('list its executions', 'GET', (id) => `${box}/${id}/executions`),
  named('measure it', 'GET', (id) => `${box}/${id}/stats`),
  named('ping it', 'GET', (id) => `${box}/${id}/ping`),
  named('run a command in it', 'POST', (id) => `${box}/${id}/command`, { command: 'id' }),
  named('interrupt a command in it', 'DELETE', (id) => `${box}/${id}/command?id=cmd_nothing`),
  named('get the state of a command in it', 'GET', (id) => `${box}/${id}/command/status/cmd_nothing`),
  named('read the log of a command in it', 'GET', (id) => `${box}/${id}/command/cmd_nothing/logs`),
  named('open a terminal in it', 'GET', (id) => `${box}/${id}/pty`),
  named('stop it', 'POST', (id) => `${box}/${id}/stop`, {}),
  named('wake it', 'POST', (id) => `${box}/${id}/revive`, {}),
  named('renew it', 'POST', (id) => `${box}/${id}/renew-expiration`, { extra_seconds: 60 }),
];

const instance: readonly Action[] = [
  { name: 'list jobs', ask: () => ({ method: 'GET', target: '/v1/jobs?limit=500' }) },
  { name: 'read the metrics', ask: () => ({ method: 'GET', target: '/metrics' }) },
  { name: 'list models', ask: () => ({ method: 'GET', target: '/compat/v1/models' }) },
];

/** Everything that a tenant does in the sequences, by its name. */
export const actions: ReadonlyMap<string, Action> = new Map(
  [...keys, ...team, ...sandboxes, ...instance].map((action) => [action.name, action]),
);
