import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { doStep, step } from './support/tenants/sequence.ts';
import { Tenant } from './support/tenants/tenant.ts';
import { TwoTenants } from './support/tenants/two-tenants.ts';

/** Sequences that are tried. */
const RUNS = Number(process.env.SVC_TEST_TENANTS ?? 60);
const TIMEOUT_MS = 60_000 + RUNS * 500;

let daemon: TwoTenants;
let tenants: readonly [Tenant, Tenant];

beforeAll(async () => {
  daemon = await TwoTenants.start();
  tenants = [
    await Tenant.of(daemon, 'otto', await daemon.member('otto', 'owner')),
    await Tenant.of(daemon, 'sam', await daemon.stranger('sam')),
  ];
}, 60_000);
afterAll(async () => {
  for (const tenant of tenants ?? []) tenant.close();
  await daemon?.stop();
});

test(
  'whatever two tenants do, neither sees, changes or notices anything of the other',
  async () => {
    let steps = 0;
    let run = 0;
    const sequence = fc.array(step, { minLength: 1, maxLength: 30, size: 'max' });
    const property = fc.asyncProperty(sequence, async (sequence) => {
      const label = `r${++run}`;
      try {
        for (const one of sequence) await doStep(one, tenants, label);
        for (const tenant of tenants) await expectAsLeft(tenant, label);
        steps += sequence.length;
      } finally {
        for (const tenant of tenants) await tenant.clear();
      }
    });
    await fc.assert(property, { numRuns: RUNS });
    console.log(`tenants: ${run} sequences, ${steps} steps, 0 leaks`);
  },
  TIMEOUT_MS,
);

/** Everything of a tenant is as the tenant itself left it. */
async function expectAsLeft(tenant: Tenant, run: string): Promise<void> {
  const { apiKeys } = await tenant.read<{ apiKeys: Array<{ id: string; name: string }> }>('/v1/api-key/list');
  for (const [id, { name }] of tenant.keys) expect(apiKeys.find((key) => key.id === id)?.name).toBe(name);
  for (const { secret } of tenant.keys.values()) expect(await tenantOf(secret)).toBe(tenant.id);
  const roster = await tenant.read<{ pendingInvitations: Array<{ id: string }> }>('/v1/auth/team');
  expect(roster.pendingInvitations.map(({ id }) => id).toSorted()).toEqual(
    [...tenant.invitations.keys()].toSorted(),
  );
  const path = `/v1/sandbox/instances?limit=500&label_filter=run=${run}`;
  const { instances } = await tenant.read<{ instances: Array<{ id: string }> }>(path);
  expect(instances.map(({ id }) => id).toSorted()).toEqual([...tenant.sandboxes.keys()].toSorted());
  const all = await tenant.read<{ total: number }>('/v1/sandbox/instances?limit=1');
  const { overview } = await tenant.read<{ overview: { totalInstances: number } }>('/v1/sandbox/overview');
  expect(overview.totalInstances).toBe(all.total);
}

/** The tenant that a key belongs to. */
async function tenantOf(secret: string): Promise<string | undefined> {
  const response = await fetch(`${daemon.daemon.url}/v1/auth/session`, {
    headers: { 'x-svc-api-key': secret },
  });
  const { user } = (await response.json()) as { user?: { organizations: Array<{ id: string }> } };
  return user?.organizations[0]?.id;
}
