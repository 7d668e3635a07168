import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { operations } from '../src/api/index.ts';
import { type Credential, good, spent, worthless } from './support/auth-matrix/credentials.ts';
import { PUBLIC, publicName, type Trust } from './support/auth-matrix/oracle.ts';
import { contentOf, NOTHING, places } from './support/auth-matrix/places.ts';
import { type Matrix, runMatrix } from './support/auth-matrix/run.ts';
import { everythingOf, makeWitness, type Witness } from './support/auth-matrix/witness.ts';
import { startDaemon, type TestDaemon } from './support/daemon.ts';
import { NO_SANDBOXES, postJson, TwoTenants } from './support/tenants/two-tenants.ts';
import { overWires } from './support/wire.ts';

/**
 * Every operation x every credential x every forged header, against a real daemon. A short run pairs each
 * credential and each forgery with the typical ones of the other kind; SVC_TEST_MATRIX=full runs all pairs.
 */

const ROOT_KEY = `s_${'Rk9-'.repeat(11)}`;
const TIMEOUT_MS = 600_000;

/** What is presented to an instance that may trust this machine: nothing, and what must undo that trust. */
const UNTRUSTED = worthless(ROOT_KEY).filter(({ name }) =>
  [
    'nothing',
    'an empty session',
    'another cookie',
    'a key by Basic',
    'an empty key',
    'a forged key',
    'a forged session',
  ].includes(name),
);

async function expectNoBypass(name: string, matrix: Matrix): Promise<void> {
  const { cases, bypasses, wrong } = await runMatrix(matrix);
  console.log(`${name}: ${cases} cases, ${bypasses.length} bypasses, ${wrong.length} wrongly refused`);
  expect(bypasses.slice(0, 20)).toEqual([]);
  expect(wrong.slice(0, 20)).toEqual([]);
  expect(cases).toBeGreaterThan(places.length * 100);
}

test('exactly the operations that are meant to be public are', () => {
  const open = operations.filter(({ access, unbuilt }) => access === 'public' && !unbuilt);
  expect(open.map(publicName).toSorted()).toEqual([...PUBLIC].toSorted());
});

describe('with two tenants', () => {
  let tenants: TwoTenants;
  let witness: Witness;
  let credentials: Credential[];

  beforeAll(async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'svc-matrix-'));
    const expired = await outlivedSessions(dataDir);
    tenants = await TwoTenants.start({ dataDir, apiKey: ROOT_KEY });
    const was = await spent(tenants, expired);
    credentials = [...worthless(ROOT_KEY), ...was, ...(await good(tenants))];
    witness = await makeWitness(tenants);
  }, 60_000);
  afterAll(() => tenants?.stop());

  test(
    'nobody gets past the door without a credential of the tenant, and nothing changes by trying',
    async () => {
      const before = await everythingOf(tenants);
      const { things, secrets } = witness;
      const { url } = tenants.daemon;
      await expectNoBypass('two tenants', { url, credentials, witness: things, secrets });
      expect(await everythingOf(tenants)).toEqual(before);
    },
    TIMEOUT_MS,
  );

  test('no other spelling of a path leads around the door', async () => {
    const { url } = tenants.daemon;
    const host = new URL(url).host;
    const guarded = places.filter(
      ({ endpoint, method }) => !PUBLIC.has(publicName(endpoint)) && method !== 'HEAD',
    );
    const requests = guarded.flatMap((place) => {
      const { target, body } = contentOf(place, witness.things, false);
      return spellings(target, host).map((spelling) => ({ method: place.method, target: spelling, body }));
    });
    const headers = [
      ['Host', host],
      ['Content-Type', 'application/json'],
    ] as const;
    const answers = await overWires(url, 8, requests, (wire, one) => wire.send({ ...one, headers }));
    const open = requests.filter((_, i) => ![400, 401, 404, 405].includes(answers[i]?.status ?? 0));
    expect(open.map(({ method, target }) => `${method} ${target}`)).toEqual([]);
    expect(answers.filter(({ status }) => status === 401).length).toBeGreaterThan(guarded.length);
  });
});

describe('without a credential, on this machine', () => {
  const daemons: TestDaemon[] = [];
  const start = async (env: Record<string, string>, args: string[] = []) => {
    const all = { ...NO_SANDBOXES, SVC_LOG_LEVEL: 'warn', ...env };
    const daemon = await startDaemon({ apiKey: ROOT_KEY, env: all, args });
    daemons.push(daemon);
    return daemon;
  };
  const expectTrust = (name: string, { url }: TestDaemon, trust: Trust) =>
    expectNoBypass(name, { url, trust, credentials: UNTRUSTED, witness: NOTHING });
  afterAll(() => Promise.all(daemons.map((daemon) => daemon.stop())));

  test(
    'an instance that nobody has claimed trusts its own pages, until somebody does',
    async () => {
      const daemon = await start({});
      await expectTrust('unclaimed', daemon, 'this machine');
      const owner = { email: 'ada@example.com', password: 'correct horse' };
      await postJson(`${daemon.url}/v1/auth/register`, owner);
      await expectTrust('claimed', daemon, 'nobody');
    },
    TIMEOUT_MS,
  );

  test.each([
    ['auth.local_trust', {}, [], 'this machine'],
    ['auth.local_trust on every interface', {}, ['--host', '0.0.0.0'], 'nobody'],
    [
      'auth.local_trust behind a public URL',
      { SVC_SERVER_PUBLIC_URL: 'https://svc.example.com' },
      [],
      'nobody',
    ],
  ] as const)(
    '%s',
    async (name, env, args, trust) => {
      const daemon = await start({ SVC_AUTH_LOCAL_TRUST: 'true', ...env }, [...args]);
      await expectTrust(name, daemon, trust);
    },
    TIMEOUT_MS,
  );
});

/** Sessions of an earlier run of the daemon whose time is over by now. */
async function outlivedSessions(dataDir: string): Promise<string[]> {
  const env = { SVC_AUTH_SESSION_TTL: '1s' };
  const earlier = await TwoTenants.start({ dataDir, apiKey: ROOT_KEY, env });
  const people = [await earlier.member('otto', 'owner'), await earlier.member('vera', 'viewer')];
  await earlier.stop({ keep: true });
  await Bun.sleep(1_000);
  return people.map(({ session }) => session);
}

/** Other ways to write the target of a request that some servers take for the same. */
function spellings(target: string, host: string): string[] {
  const [path = '', query = ''] = target.split(/(?=\?)/);
  return [
    `${path}/${query}`,
    `/${path}${query}`,
    `/.${path}${query}`,
    `/healthz/..${path}${query}`,
    `/healthz/%2e%2e${path}${query}`,
    `/healthz;${path}${query}`,
    `http://${host}${path}${query}`,
    `http://evil.com${path}${query}`,
    path.toUpperCase() + query,
    path.replace('/v1/', '/%76%31/') + query,
    `${path}%00${query}`,
    `${path}.json${query}`,
    `${path}#/healthz${query}`,
    `${path}?${query}&x-svc-api-key=${ROOT_KEY}&api_key=${ROOT_KEY}`,
  ];
}
