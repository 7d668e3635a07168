import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { driverCases } from './support/drivers.ts';
import { until } from './support/scene.ts';
import { actions } from './support/tenants/actions.ts';
import { doSteps, step } from './support/tenants/sequence.ts';
import { Tenant } from './support/tenants/tenant.ts';
import { TwoTenants } from './support/tenants/two-tenants.ts';

/** Sequences that are tried. */
const RUNS = Number(process.env.SVC_TEST_TENANTS ?? 60);
const TIMEOUT_MS = 60_000 + RUNS * 500;

describe('two tenants', () => {
  let daemon: TwoTenants;
  let tenants: readonly [Tenant, Tenant];
  beforeAll(async () => {
    daemon = await TwoTenants.start();
    tenants = await tenantsOf(daemon);
  }, 60_000);
  afterAll(async () => {
    for (const tenant of tenants ?? []) tenant.close();
    await daemon?.stop();
  });

  test(
    'whatever they do, neither sees, changes or notices anything of the other',
    async () => {
      let steps = 0;
      let run = 0;
      const sequence = fc.array(step, { minLength: 1, maxLength: 30, size: 'max' });
      const property = fc.asyncProperty(sequence, async (sequence) => {
        const label = `r${++run}`;
        try {
          await doSteps(sequence, tenants, label);
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
});

describe.each(driverCases)('two tenants with sandboxes that run on the $name driver', ({ env }) => {
  let daemon: TwoTenants;
  let tenants: readonly [Tenant, Tenant];
  beforeAll(async () => {
    daemon = await TwoTenants.start({ env });
    tenants = await tenantsOf(daemon);
  }, 60_000);
  afterAll(async () => {
    for (const tenant of tenants ?? []) {
      for (const id of tenant.sandboxes.keys())
        await tenant.ask({ method: 'DELETE', target: `/v1/sandbox/${id}` });
      tenant.close();
    }
    await daemon?.stop();
  }, 60_000);

  test('each has a sandbox of the same name, and reaches its own by it', async () => {
    for (const tenant of tenants) {
      const body = { name: 'twin', networkMode: 'deny', labels: { of: `made by ${tenant.name}` } };
      const made = await tenant.ask({ method: 'POST', target: '/v1/sandbox', body });
      expect(made.status).toBe(200);
      const { id, name, sessionId } = JSON.parse(made.text);
      tenant.sandboxes.set(id, { id, name, sessionId });
      const { instance } = await tenant.read<{ instance: { id: string } }>('/v1/sandbox/instances/twin');
      expect(instance.id).toBe(id);
    }
  }, 60_000);

  test('nothing that one does with the sandbox of the other differs from doing it with none', async () => {
    const before = await Promise.all(tenants.map(historyOf));
    const names = [...actions].filter(([, { names }]) => names === 'sandbox').map(([name]) => name);
    expect(names.length).toBeGreaterThan(10);
    const foreign = { aim: 'foreign', isEchoed: true, who: 0 } as const;
    const steps = names.flatMap((does) =>
      [0, 1].flatMap((pick) => [true, false].map((bySession) => ({ ...foreign, does, pick, bySession }))),
    );
    await doSteps(steps, tenants, 'running');
    expect(await Promise.all(tenants.map(historyOf))).toEqual(before);
  }, 60_000);

  test('a command of one is not there for the other, in no sandbox', async () => {
    const [otto, sam] = tenants;
    const body = { command: 'echo made by otto; sleep 60', background: true };
    const begun = await otto.ask({ method: 'POST', target: '/v1/sandbox/twin/command', body });
    const [command = ''] = /cmd_\w+/.exec(begun.text) ?? [];
    const log = () => otto.ask({ method: 'GET', target: `/v1/sandbox/twin/command/${command}/logs` });
    await until(async () => (await log()).text.includes('made by otto'));
    const [box = ''] = otto.sandboxes.keys();
    for (const sandbox of ['twin', box]) {
      for (const ask of [
        { method: 'GET', target: `/v1/sandbox/${sandbox}/command/status/${command}` },
        { method: 'GET', target: `/v1/sandbox/${sandbox}/command/${command}/logs` },
        { method: 'DELETE', target: `/v1/sandbox/${sandbox}/command?id=${command}` },
      ])
        expect((await sam.ask(ask)).status).toBe(404);
    }
    const state = await otto.read<{ running: boolean }>(`/v1/sandbox/twin/command/status/${command}`);
    expect(state.running).toBe(true);
    expect((await sam.ask({ method: 'GET', target: '/v1/sandbox/twin/executions' })).text).not.toContain(
      'otto',
    );
  }, 60_000);
});

async function tenantsOf(daemon: TwoTenants): Promise<readonly [Tenant, Tenant]> {
  return [
    await Tenant.of(daemon, 'otto', await daemon.member('otto', 'owner')),
    await Tenant.of(daemon, 'sam', await daemon.stranger('sam')),
  ];
}

/** The sandbox of a tenant and what has happened to it. */
async function historyOf(tenant: Tenant): Promise<unknown> {
  const { instances } = await tenant.read<{ instances: object[] }>('/v1/sandbox/instances');
  return { instances, events: await tenant.read('/v1/sandbox/twin/events') };
}

/** Everything of a tenant is as the tenant itself left it. */
async function expectAsLeft(tenant: Tenant, run: string): Promise<void> {
  const { apiKeys } = await tenant.read<{ apiKeys: Array<{ id: string; name: string }> }>('/v1/api-key/list');
  for (const [id, { name }] of tenant.keys) expect(apiKeys.find((key) => key.id === id)?.name).toBe(name);
  for (const { secret } of tenant.keys.values()) expect(await tenant.ownerOf(secret)).toBe(tenant.id);
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
