import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import { startDaemon, svcCommand, type TestDaemon } from './support/daemon.ts';
import { CONTROL_PLANE } from './support/tenants/control-plane.ts';
import { NO_SANDBOXES, type Person, TwoTenants } from './support/tenants/two-tenants.ts';

const APP = 'https://app.example';
const OTHER = 'https://other.example';
const RUNTIME = '/api/v1/config/runtime';
const issuer = generateKeyPairSync('ed25519');
const publicKey = issuer.publicKey.export({ type: 'spki', format: 'pem' }).toString();

// biome-ignore lint/suspicious/noExplicitAny: answers of many operations, looked into by tests.
type Answer = { readonly status: number; readonly headers: Headers; readonly body: any };
type Ask = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<Answer>;

const asker =
  (daemon: TestDaemon, key: string | undefined): Ask =>
  async (method, path, body, headers = {}) => {
    const response = await fetch(daemon.url + path, {
      method,
      headers: {
        ...(key ? { 'x-svc-api-key': key } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text ? JSON.parse(text) : undefined };
  };

const fieldOf = ({ body }: Answer) =>
  body.details.find((one: object) => 'fieldViolations' in one)?.fieldViolations[0].field;

function statement(purpose: string, claims: object = {}): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const usual = { purpose, plan_tier: 'pro', aud: CONTROL_PLANE.instance, jti: crypto.randomUUID() };
  return new SignJWT({ ...usual, iat: now, exp: now + 600, ...claims })
    .setProtectedHeader({ alg: 'EdDSA' })
    .sign(issuer.privateKey);
}

describe('two tenants', () => {
  let tenants: TwoTenants;
  let owner: Person;
  let ada: Ask;
  let sam: Ask;
  let viewer: Ask;

  beforeAll(async () => {
    tenants = await TwoTenants.start({
      env: {
        SVC_SERVER_CORS_ENABLED: 'true',
        SVC_SERVER_CORS_ALLOWED_ORIGINS: APP,
        SVC_SERVER_CORS_ALLOW_CREDENTIALS: 'true',
        SVC_GATEWAY_RATE_LIMIT_BURST: '77',
        SVC_LICENSE_PUBLIC_KEY: publicKey,
        SVC_LICENSE_CALLBACK_SECRET: 'the secret of the callback',
      },
    });
    const of = async (person: Person, type = 'API_KEY_TYPE_USER') => {
      const page = tenants.fromPage(person.session);
      const { key } = await tenants.key(page, { type, userId: person.userId, name: 'test' });
      return asker(tenants.daemon, key);
    };
    owner = await tenants.member('ada', 'owner');
    ada = await of(owner);
    const page = tenants.fromPage((await tenants.member('vic', 'viewer')).session);
    viewer = (method, path, body) => asker(tenants.daemon, undefined)(method, path, body, page);
    sam = await of(await tenants.stranger('sam'));
  }, 60_000);

  afterAll(() => tenants?.stop());

  test('begin with the configuration of the instance', async () => {
    for (const ask of [ada, sam]) {
      const { body } = await ask('GET', RUNTIME);
      expect(body).toMatchObject({ version: 1, rateLimit: { burst: 77, enabled: false } });
      expect(body.cors.allowedOrigins).toEqual([APP]);
    }
  });

  test('change their own and not each other’s', async () => {
    const put = await ada('PUT', `${RUNTIME}/rate_limit`, { yamlContent: 'enabled: true\nburst: 5\n' });
    expect(put).toMatchObject({
      status: 200,
      body: { name: 'rate_limit', version: 2, given: ['enabled', 'burst'] },
    });
    expect((await sam('GET', `${RUNTIME}/rate_limit`)).body).toMatchObject({
      version: 1,
      config: { burst: 77 },
    });
    expect((await sam('PUT', RUNTIME, { config: { cache: { ttl: '3m' } } })).body.cache.ttl).toBe('3m');
    const { body } = await ada('GET', RUNTIME);
    expect(body).toMatchObject({ version: 2, cache: { ttl: '10m' }, rateLimit: { burst: 5, enabled: true } });
    const mine = await ada('GET', '/api/v1/config/validation-history');
    const theirs = await sam('GET', '/api/v1/config/validation-history');
    const sections = ({ body }: Answer) => body.entries.map((one: { sections: string[] }) => one.sections);
    expect([sections(mine), sections(theirs)]).toEqual([[['rate_limit']], [['cache']]]);
  });

  test('take changes from admins alone', async () => {
    for (const [method, path] of [
      ['PUT', RUNTIME],
      ['PUT', `${RUNTIME}/cors`],
      ['POST', `${RUNTIME}/cors/reset`],
    ] as const)
      expect((await viewer(method, path, {})).status).toBe(403);
    expect((await viewer('GET', RUNTIME)).status).toBe(200);
    expect((await viewer('POST', '/api/v1/config/validate-map', { config: {} })).body.valid).toBe(true);
  });

  test('are told what is wrong: the field, the section, the version', async () => {
    const bad = await ada('PUT', `${RUNTIME}/cache`, { config: { ttl: 'soon' } });
    expect([bad.status, fieldOf(bad)]).toEqual([400, 'config.ttl']);
    const typed = await ada('PUT', RUNTIME, { config: { telemetry: { samplingRate: 7 } } });
    expect([typed.status, fieldOf(typed)]).toEqual([400, 'config.telemetry.samplingRate']);
    const empty = await ada('PUT', RUNTIME, {});
    expect([empty.status, fieldOf(empty)]).toEqual([400, 'config']);
    const missing = await ada('GET', `${RUNTIME}/ratelimit`);
    expect(missing.status).toBe(404);
    expect(JSON.stringify(missing.body)).toContain('Did you mean rate_limit?');
    const { version } = (await ada('GET', RUNTIME)).body;
    const stale = await ada('PUT', RUNTIME, { config: { version: version - 1, cors: {} } });
    expect([stale.status, stale.body.code]).toEqual([409, 10]);
    expect((await ada('GET', RUNTIME)).body.version).toBe(version);
  });

  test('get schemas, and what is valid by a check is taken', async () => {
    const { schemaNames } = (await ada('GET', '/api/v1/config/schemas')).body;
    expect(schemaNames).toContain('rate_limit');
    const { schema } = (await ada('GET', '/api/v1/config/schemas/rate_limit')).body;
    expect(schema.properties.burst).toMatchObject({ type: 'integer', minimum: 1, default: 77 });
    expect((await ada('GET', '/api/v1/config/schemas/rate')).status).toBe(404);
    const { config } = (await ada('GET', `${RUNTIME}/features`)).body;
    const checked = await ada('POST', '/api/v1/config/validate-map', { config: { features: config } });
    expect(checked.body).toMatchObject({ valid: true, status: { state: 'VALIDATION_STATE_VALID' } });
    expect((await ada('PUT', `${RUNTIME}/features`, { config })).body.config).toEqual(config);
  });

  describe('and pages of other origins', () => {
    const preflight = (origin: string) =>
      fetch(`${tenants.daemon.url}/compat/v1/chat/completions`, {
        method: 'OPTIONS',
        headers: {
          origin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization,content-type',
        },
      });
    const allowed = ({ headers }: { headers: Headers }) => headers.get('access-control-allow-origin');

    test('a preflight is answered by the configuration of the instance', async () => {
      const yes = await preflight(APP);
      expect([yes.status, allowed(yes), yes.headers.get('access-control-max-age')]).toEqual([
        204,
        APP,
        '600',
      ]);
      expect(yes.headers.get('access-control-allow-headers')).toBe('authorization,content-type');
      expect(yes.headers.get('vary')).toContain('Origin');
      const no = await preflight('https://app.example.evil.com');
      expect([no.status, allowed(no), no.headers.get('access-control-allow-methods')]).toEqual([
        204,
        null,
        null,
      ]);
    });

    test('a foreign Host gets no preflight', async () => {
      const headers = { host: 'evil.example', origin: APP, 'access-control-request-method': 'GET' };
      const response = await fetch(tenants.daemon.url + RUNTIME, { method: 'OPTIONS', headers });
      expect(response.status).toBe(421);
    });

    test('a tenant’s own origins hold for its requests alone', async () => {
      const cors = { enabled: true, allowedOrigins: ['https://OTHER.example'] };
      expect((await sam('PUT', `${RUNTIME}/cors`, { config: cors })).status).toBe(200);
      const from = async (ask: Ask, origin: string) =>
        allowed(await ask('GET', RUNTIME, undefined, { origin }));
      expect([await from(sam, OTHER), await from(sam, APP)]).toEqual([OTHER, null]);
      expect([await from(ada, OTHER), await from(ada, APP)]).toEqual([null, APP]);
      const nobody = asker(tenants.daemon, undefined);
      const refused = await nobody('GET', RUNTIME, undefined, { origin: APP });
      expect([refused.status, allowed(refused)]).toEqual([401, APP]);
    });

    test('errors and streams can be read too', async () => {
      const missing = await ada('GET', `${RUNTIME}/nope`, undefined, { origin: APP });
      expect([missing.status, allowed(missing)]).toEqual([404, APP]);
      const response = await fetch(`${tenants.daemon.url}/compat/v1/chat/completions`, {
        method: 'POST',
        headers: { origin: APP, 'content-type': 'application/json', 'x-svc-api-key': tenants.daemon.apiKey },
        body: JSON.stringify({
          model: 'local/echo',
          stream: true,
          messages: [{ role: 'user', content: 'hi' }],
        }),
      });
      expect([response.status, allowed(response)]).toEqual([200, APP]);
      expect(await response.text()).toContain('[DONE]');
    });

    test('a cookie of theirs still changes nothing', async () => {
      const headers = {
        origin: APP,
        cookie: tenants.fromPage(owner.session).cookie ?? '',
        'content-type': 'application/json',
      };
      const url = `${tenants.daemon.url}${RUNTIME}/cors`;
      const response = await fetch(url, { method: 'PUT', headers, body: '{"config":{}}' });
      expect(response.status).toBe(403);
    });
  });

  describe('and the licence of the instance', () => {
    const status = async () => (await ada('GET', '/v1/gateway/instance/status')).body;

    test('there is none at first, and the gateway is this instance', async () => {
      expect(await status()).toMatchObject({ status: 'inactive', instanceId: CONTROL_PLANE.instance });
      expect((await ada('GET', '/v1/gateway/default')).body.id).toBe(CONTROL_PLANE.instance);
      expect((await ada('GET', '/v1/gateway/elsewhere')).status).toBe(404);
    });

    test('the callbacks need their proofs', async () => {
      const nobody = asker(tenants.daemon, undefined);
      const path = '/v1/gateway/activation-callback';
      const signedPayload = await statement('activation_callback');
      expect((await nobody('POST', path, { signedPayload, callbackSecret: 'x' })).status).toBe(401);
      expect((await nobody('POST', path, { callbackSecret: 'the secret of the callback' })).status).toBe(401);
      const forged = `${signedPayload.slice(0, -6)}AAAAAA`;
      const subscription = '/v1/gateway/subscription-status-callback';
      expect((await nobody('POST', subscription, { signedPayload: forged })).status).toBe(401);
      expect((await status()).status).toBe('inactive');
    });

    test('only the owner of the instance activates it; the state is told to all, its tenant to its own', async () => {
      const activationToken = await statement('activation');
      const path = '/v1/gateway/instance/activate';
      expect((await sam('POST', path, { activationToken })).status).toBe(403);
      expect((await viewer('POST', path, { activationToken })).status).toBe(403);
      const done = await ada('POST', path, { activationToken });
      expect(done).toMatchObject({ status: 200, body: { status: 'active', planTier: 'pro' } });
      expect((await ada('POST', path, { activationToken })).status).toBe(409);
      const theirs = (await sam('GET', '/v1/gateway/instance/status')).body;
      expect([theirs.status, theirs.licenseState.tenantId]).toEqual(['active', undefined]);
      expect((await status()).licenseState.tenantId).toBe(owner.tenant);
    });

    test('callbacks change it, once, and nothing of them is in the log', async () => {
      const nobody = asker(tenants.daemon, undefined);
      const later = Math.floor(Date.now() / 1000) + 30;
      const signedPayload = await statement('subscription_status', { status: 'suspended', iat: later });
      const path = '/v1/gateway/subscription-status-callback';
      expect((await nobody('POST', path, { signedPayload })).body.success).toBe(true);
      expect((await nobody('POST', path, { signedPayload })).body.message).toContain('before');
      const old = await statement('subscription_status', { status: 'active' });
      expect((await nobody('POST', path, { signedPayload: old })).body.message).toContain('newer');
      expect((await status()).licenseState.status).toBe('LICENSE_STATUS_SUSPENDED');
      const log = tenants.daemon.log();
      expect(log).not.toContain('the secret of the callback');
      expect(log).not.toContain(signedPayload.slice(-30));
    });
  });
});

describe('one instance', () => {
  let home: string;
  let daemon: TestDaemon;

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'svc-test-gwc-'));
    daemon = await startDaemon({ env: NO_SANDBOXES });
  }, 60_000);
  afterAll(async () => {
    await daemon?.stop();
    rmSync(home, { recursive: true, force: true });
  });

  const svc = async (argv: readonly string[], stdin = '') => {
    const child = Bun.spawn([...svcCommand(), ...argv], {
      env: { PATH: process.env.PATH, HOME: home, SVC_API_URL: daemon.url, SVC_API_KEY: daemon.apiKey },
      stdin: Buffer.from(stdin),
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const [out, err] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    return { code: await child.exited, out, err };
  };

  test('says nothing of CORS as long as nobody has enabled it', async () => {
    const ask = asker(daemon, daemon.apiKey);
    const { headers } = await ask('GET', RUNTIME, undefined, { origin: APP });
    expect([headers.get('vary'), headers.get('access-control-allow-origin')]).toEqual([null, null]);
    const preflight = await fetch(daemon.url + RUNTIME, {
      method: 'OPTIONS',
      headers: { origin: APP, 'access-control-request-method': 'GET' },
    });
    expect(preflight.status).toBe(405);
  });

  test('takes no statement of a licence without a key', async () => {
    const nobody = asker(daemon, undefined);
    const signed = { signedPayload: 'x' };
    const paid = await nobody('POST', '/v1/gateway/activation-callback', { ...signed, callbackSecret: 'y' });
    const changed = await nobody('POST', '/v1/gateway/subscription-status-callback', signed);
    expect([paid.status, changed.status]).toEqual([501, 501]);
  });

  test('keeps every change that it has acknowledged over kill -9', async () => {
    for (let round = 1; round <= 3; round++) {
      const ask = asker(daemon, daemon.apiKey);
      let burst = 0;
      for (let i = 1; i <= 10; i++) {
        const { status } = await ask('PUT', `${RUNTIME}/rate_limit`, { config: { burst: round * 100 + i } });
        if (status === 200) burst = round * 100 + i;
      }
      await daemon.kill9();
      const { dataDir, apiKey } = daemon;
      daemon = await startDaemon({ dataDir, apiKey, env: NO_SANDBOXES });
      const { body } = await asker(daemon, daemon.apiKey)('GET', `${RUNTIME}/rate_limit`);
      expect(body).toMatchObject({ version: 1 + round * 10, config: { burst } });
    }
  }, 120_000);

  test('is changed from the command line', async () => {
    const set = await svc([
      'gateway',
      'config',
      'set',
      'cors',
      'enabled=true',
      `allowed_origins=${APP},*`,
      '--json',
    ]);
    expect(JSON.parse(set.out)).toMatchObject({
      config: { enabled: true, allowedOrigins: [APP, '*'] },
      given: ['enabled', 'allowedOrigins'],
    });
    const more = await svc(['gateway', 'config', 'set', 'cors', 'max_age=5m']);
    expect(more.out).toContain('cors.max_age\t5m\tset here');
    expect(more.out).toContain('cors.allow_credentials\tfalse\tinstance');
    const weights = await svc([
      'gateway',
      'config',
      'set',
      'load_balancer',
      'weights=openai=3,groq=1',
      '--yaml',
    ]);
    expect(weights.out).toContain('openai: 3');
    const all = await svc(['gateway', 'config', 'get', '--yaml']);
    const valid = await svc(['gateway', 'config', 'validate', '-'], all.out);
    expect([valid.code, valid.out]).toEqual([0, '']);
    const file = join(home, 'cors.yaml');
    writeFileSync(file, 'enabled: false\n');
    expect((await svc(['gateway', 'config', 'set', 'cors', '--file', file])).out).toContain(
      'cors.max_age\t10m\tinst',
    );
    expect((await svc(['gateway', 'config', 'reset', 'load_balancer'])).out).toContain(
      'load_balancer.weights\t\tinst',
    );
  }, 60_000);

  test('says on the command line what is wrong', async () => {
    const bad = await svc(['gateway', 'config', 'set', 'rate_limit', 'burst=none']);
    expect([bad.code, bad.err]).toEqual([2, expect.stringContaining('burst')]);
    expect((await svc(['gateway', 'config', 'get', 'corse'])).code).toBe(5);
    expect((await svc(['gateway', 'config', 'set', 'cors'])).code).toBe(2);
    const invalid = await svc(['gateway', 'config', 'validate', '-'], 'cache: {ttl: 0s}\nfoo: 1\n');
    expect([invalid.code, invalid.out]).toEqual([1, expect.stringContaining('error\tcache.ttl')]);
    expect(invalid.out).toContain('warning\tfoo');
    expect((await svc(['gateway', 'config', 'validate', '/nonexistent'])).code).toBe(2);
    const none = await svc(['gateway', 'activate'], 'token');
    expect([none.code, none.err]).toEqual([1, expect.stringContaining('license.public_key')]);
    expect((await svc(['gateway', 'status'])).out).toContain('inactive');
  }, 60_000);
});
