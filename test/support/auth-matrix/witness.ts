import { postJson, type TwoTenants } from '../tenants/two-tenants.ts';
import { NOTHING, type Things } from './places.ts';

/** Things of the instance's own tenant that no case may show to others or change. */
export interface Witness {
  readonly things: Things;
  /** Texts that stand in them, besides their ids. */
  readonly secrets: readonly string[];
}

interface Sandbox {
  readonly id: string;
  readonly sessionId: string;
}

/** Makes one thing of each kind. The sandbox is one that could not be made: it stays in the list as failed. */
export async function makeWitness(tenants: TwoTenants): Promise<Witness> {
  const { url, apiKey } = tenants.daemon;
  const root = { 'x-svc-api-key': apiKey };
  const { id } = await tenants.key(root, { name: 'witness-key' });
  const { userId, tenant } = await tenants.member('witness-member', 'member');
  const invited = await postJson(`${url}/v1/auth/invite`, { email: 'witness-guest@example.com' }, root);
  const { invitation } = (await invited.json()) as { invitation: { id: string } };
  const box = { name: 'witness-box', labels: { of: 'witness-label' } };
  await postJson(`${url}/v1/sandbox`, box, root).catch(() => undefined);
  const [sandbox] = (await read<{ instances: Sandbox[] }>(tenants, '/v1/sandbox/instances')).instances;
  if (!sandbox) throw new Error('the sandbox that could not be made is not in the list');
  const things = { id, userId, invitationId: invitation.id, cmdId: 'cmd_nothing' };
  return {
    things: { ...NOTHING, ...things, sandboxId: sandbox.id, sessionId: sandbox.sessionId },
    secrets: ['witness-', tenant],
  };
}

/** All that the instance's own tenant has, but for the times at which keys were used. */
export async function everythingOf(tenants: TwoTenants): Promise<unknown> {
  const { apiKeys } = await read<{ apiKeys: object[] }>(tenants, '/v1/api-key/list');
  return {
    keys: apiKeys.map((key) => ({ ...key, lastUsedAt: undefined })),
    team: await read(tenants, '/v1/auth/team'),
    sandboxes: await read(tenants, '/v1/sandbox/instances'),
    collections: await read(tenants, '/v1/memory/collections'),
  };
}

async function read<T>({ daemon }: TwoTenants, path: string): Promise<T> {
  return (await (await daemon.fetch(path)).json()) as T;
}
