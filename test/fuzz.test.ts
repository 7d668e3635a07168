import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import type { Endpoint } from '../src/api/endpoint.ts';
import { operations } from '../src/api/index.ts';
import { problemOf } from './support/fuzz/judge.ts';
import { requestFor } from './support/fuzz/requests.ts';
import type { Pool } from './support/fuzz/valid.ts';
import { postJson, TwoTenants } from './support/tenants/two-tenants.ts';
import { Wire, type WireHeader, type WireRequest } from './support/wire.ts';

/** Inputs of each operation. */
const RUNS = Number(process.env.SVC_TEST_FUZZ ?? 25);
const TIMEOUT_MS = 30_000 + RUNS * 100;
const MOST_GROWTH = 256 * 1024 * 1024;

const built = operations.filter((endpoint) => !endpoint.unbuilt);
const MODES = {
  self_hosted: built,
  cloud: built.filter(({ path }) => /\/auth\//.test(path)),
} as const;

describe.each(['self_hosted', 'cloud'] as const)('an instance that is %s', (mode) => {
  let tenants: TwoTenants;
  let wire: Wire;
  let startedWith: number;
  let sent = 0;

  beforeAll(async () => {
    tenants = await TwoTenants.start({ env: { SVC_AUTH_MODE: mode } });
    wire = new Wire(tenants.daemon.url);
    startedWith = residentBytes(tenants.daemon.pid);
  }, 60_000);
  afterAll(async () => {
    wire?.close();
    await tenants?.stop();
  });

  test.each(MODES[mode].map((endpoint) => [endpoint.id, endpoint] as const))(
    '%s answers whatever it is sent',
    async (_, endpoint) => {
      const { daemon } = tenants;
      const pool = await makePool(tenants, endpoint);
      const host: WireHeader = ['Host', new URL(daemon.url).host];
      const always: WireHeader[] = [host, ['x-svc-api-key', daemon.apiKey]];
      const answers = async (request: WireRequest) => {
        const response = await wire.send(request);
        sent++;
        const problem = problemOf(request, response);
        if (problem) throw new Error(`${problem}\n${response.status} ${response.text.slice(0, 500)}`);
      };
      const property = fc.asyncProperty(requestFor(endpoint, pool, always), answers);
      await fc.assert(property, { numRuns: RUNS });
    },
    TIMEOUT_MS,
  );

  test('and goes on answering, without having grown or logged a failure', async () => {
    const { daemon } = tenants;
    const health = await fetch(`${daemon.url}/healthz`);
    expect(await health.json()).toMatchObject({ status: 'ok' });
    const growth = residentBytes(daemon.pid) - startedWith;
    console.log(`${mode}: ${sent} inputs, RSS grew by ${(growth / 2 ** 20).toFixed(1)} MiB`);
    expect(sent).toBeGreaterThanOrEqual(MODES[mode].length * RUNS);
    expect(growth).toBeLessThan(MOST_GROWTH);
    expect(daemon.log()).not.toContain('a request failed');
    expect(daemon.log()).not.toContain(daemon.apiKey);
  });
});

/** One thing of each kind for inputs to name. The first registration needs an instance that nobody has claimed. */
async function makePool(tenants: TwoTenants, { spec, id: operation }: Endpoint): Promise<Pool> {
  if (operation === 'Register' || operation === 'GetAuthMode') return { email: ['ada@example.com'] };
  const { url, apiKey } = tenants.daemon;
  const root = { 'x-svc-api-key': apiKey };
  const login = `${spec}-${operation}`.toLowerCase();
  const [key, member] = [await tenants.key(root), await tenants.member(login, 'member')];
  const invited = await postJson(`${url}/v1/auth/invite`, { email: `guest-${login}@example.com` }, root);
  const { invitation } = (await invited.json()) as { invitation: { id: string } };
  const name = `box-${login}`;
  await postJson(`${url}/v1/sandbox`, { name, labels: { a: 'b' } }, root).catch(() => undefined);
  const listed = await fetch(`${url}/v1/sandbox/instances`, { headers: root });
  const { instances } = (await listed.json()) as { instances: Array<{ id: string; sessionId: string }> };
  const [box = { id: '', sessionId: '' }] = instances;
  const agent = await postJson(`${url}/v1/agents`, { name: `agent-${login}`, model: 'local/echo' }, root);
  const agentId = ((await agent.json()) as { agent?: { id: string } }).agent?.id ?? '';
  const known = await postJson(`${url}/v1/agents/${agentId}/memories`, { content: `of ${login}` }, root);
  const memoryId = ((await known.json()) as { memory?: { id: string } }).memory?.id ?? '';
  return {
    id: [key.id, agentId],
    userId: [member.userId],
    orgId: [member.tenant],
    tenantId: [member.tenant],
    invitationId: [invitation.id],
    sandboxId: [box.id, name],
    sessionId: [box.sessionId, box.id],
    agentId: [agentId],
    memoryId: [memoryId],
    cmdId: ['cmd_none'],
    templateId: ['node', 'python'],
    spec: ['auth', 'agents'],
    model: ['local/echo', 'echo'],
    email: [`${login}@example.com`],
    provider: ['test', 'TestOAuth'],
    label_filter: ['a=b', 'a=b,c=d'],
  };
}

function residentBytes(pid: number): number {
  if (process.platform !== 'linux') return 0;
  const [, kib = '0'] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) * 1024;
}
