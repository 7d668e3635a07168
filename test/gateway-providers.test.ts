import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, startDaemon, svcCommand, type TestDaemon } from './support/daemon.ts';
import { Tenant } from './support/tenants/tenant.ts';
import { TwoTenants } from './support/tenants/two-tenants.ts';
import { startUpstream, type TestUpstream } from './support/upstream.ts';

const ENV_KEY = 'sk-env-never-shown-0123456789';
const SECRETS = [ENV_KEY, 'gsk-env-never-shown-9876543210', 'sk-own-never-shown-5555'];

let upstream: TestUpstream;
beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream?.stop());

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly body: Record<string, unknown>;
}

async function call(daemon: TestDaemon, method: string, path: string, body?: object): Promise<Answer> {
  const headers = { 'content-type': 'application/json' };
  const response = await daemon.fetch(path, {
    method,
    headers,
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const text = await response.text();
  return { status: response.status, text, body: JSON.parse(text) };
}

/** The words of an answer of a model, or the status of what came in its place. */
async function ask(daemon: TestDaemon, model: string): Promise<string | number> {
  const response = await fetch(`${daemon.url}/compat/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${daemon.apiKey}` },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'one two three' }] }),
  });
  if (!response.ok) return response.status;
  const { choices } = (await response.json()) as { choices: [{ message: { content: string } }] };
  return choices[0].message.content;
}

async function svc(daemon: TestDaemon, argv: readonly string[], stdin = '') {
  const child = Bun.spawn([...svcCommand(), ...argv], {
    env: { ...process.env, SVC_API_URL: daemon.url, SVC_API_KEY: daemon.apiKey, HOME: daemon.dataDir },
    stdin: new Blob([stdin]),
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { out, err, code: await child.exited };
}

describe('the providers of an instance', () => {
  let daemon: TestDaemon;
  let ollama: ReturnType<typeof Bun.serve>;
  beforeAll(async () => {
    ollama = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: (request) =>
        new URL(request.url).pathname === '/api/tags'
          ? Response.json({ models: [{ name: 'tiny' }] })
          : Response.json({ object: 'list', data: [{ id: 'tiny', created: 1 }] }),
    });
    daemon = await startDaemon({
      env: {
        OPENAI_API_KEY: upstream.apiKey,
        OPENAI_BASE_URL: upstream.url,
        ANTHROPIC_API_KEY: ENV_KEY,
        GROQ_API_KEY: SECRETS[1] ?? '',
        OLLAMA_HOST: `127.0.0.1:${ollama.port}`,
      },
    });
  });
  afterAll(async () => {
    await daemon?.stop();
    await ollama?.stop(true);
  });

  test('come from the environment, and a local Ollama is found', async () => {
    const { body } = await call(daemon, 'GET', '/v1/providers/configured');
    const providers = body.providers as Array<{
      catalog: { name: string };
      configuration: { origin: string; apiKey: string };
    }>;
    expect(providers.map(({ catalog, configuration }) => [catalog.name, configuration.origin])).toEqual([
      ['openai', 'environment'],
      ['anthropic', 'environment'],
      ['groq', 'environment'],
      ['ollama', 'found'],
    ]);
    expect(providers[1]?.configuration.apiKey).toBe('****6789');
    expect(await ask(daemon, 'openai/gpt-test')).toBe('three two one');
    const models = await call(daemon, 'GET', '/compat/v1/models');
    expect(models.text).toContain('"ollama/tiny"');
  });

  test('are set up by the API, and a masked key written back changes nothing', async () => {
    const settings = { apiKey: upstream.apiKey, customBaseUrl: upstream.url };
    const made = await call(daemon, 'POST', '/v1/providers/lab/configure', settings);
    expect(made).toMatchObject({ status: 200, body: { provider: { isActive: true }, syncTriggered: true } });
    expect(await ask(daemon, 'lab/gpt-test')).toBe('three two one');
    const shown = await call(daemon, 'GET', '/v1/providers/lab');
    const { configuration } = shown.body.provider as { configuration: Record<string, string> };
    expect(configuration.apiKey).toBe(`****${upstream.apiKey.slice(-4)}`);
    const { apiKey, customBaseUrl, customSettings, enabledModels } = configuration;
    const back = { apiKey, customBaseUrl, customSettings, enabledModels };
    expect((await call(daemon, 'POST', '/v1/providers/lab/configure', back)).status).toBe(200);
    expect(await ask(daemon, 'lab/gpt-test')).toBe('three two one');
  });

  test('are closed to models that are not enabled', async () => {
    await call(daemon, 'POST', '/v1/providers/lab/configure', { enabledModels: ['gpt-test-mini'] });
    expect([await ask(daemon, 'lab/gpt-test-mini'), await ask(daemon, 'lab/gpt-test')]).toEqual([
      'three two one',
      404,
    ]);
    await call(daemon, 'POST', '/v1/providers/lab/configure', { enabledModels: [] });
  });

  test('fail without an active key, whatever the environment has', async () => {
    const toggle = (keyId: string, isActive: boolean) =>
      call(daemon, 'PATCH', `/v1/providers/api-keys/${keyId}/toggle`, { isActive });
    expect((await toggle('env.openai', false)).status).toBe(200);
    expect(await ask(daemon, 'openai/gpt-test')).toBe(502);
    const { body } = await call(daemon, 'POST', '/v1/providers/api-keys', {
      providerConfigId: 'openai',
      apiKey: upstream.apiKey,
    });
    const { id } = (body as { key: { id: string } }).key;
    expect(await ask(daemon, 'openai/gpt-test')).toBe('three two one');
    await toggle(id, false);
    expect(await ask(daemon, 'openai/gpt-test')).toBe(502);
    await toggle(id, true);
    await toggle('env.openai', true);
    expect(await ask(daemon, 'openai/gpt-test')).toBe('three two one');
  });

  test('are told when they were last used', async () => {
    await ask(daemon, 'lab/gpt-test');
    const { body } = await call(daemon, 'GET', '/v1/providers/lab');
    const { lastUsedAt } = (body.provider as { configuration: { lastUsedAt: string } }).configuration;
    expect(Date.now() - Date.parse(lastUsedAt)).toBeLessThan(60_000);
  });

  test('stand in a file that can be edited by hand', async () => {
    const path = join(daemon.dataDir, 'providers.yaml');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const edited = readFileSync(path, 'utf8').replace(
      'providers:\n',
      `providers:\n  mistral:\n    api_key: ${SECRETS[2]}\n`,
    );
    writeFileSync(path, edited);
    expect((await call(daemon, 'GET', '/v1/providers/sync-status')).body).toMatchObject({ inSync: false });
    const { out, err, code } = await svc(daemon, ['provider', 'reload']);
    expect({ out, err, code }).toMatchObject({ code: 0, err: expect.stringContaining('in force') });
    expect((await call(daemon, 'GET', '/v1/providers/sync-status')).body).toMatchObject({ inSync: true });
    expect((await call(daemon, 'GET', '/v1/providers/mistral')).text).toContain('"****5555"');
  });

  test('are handled by svc provider', async () => {
    const key = await svc(
      daemon,
      ['provider', 'add', 'box', '--base-url', upstream.url, '--key-stdin', '--json'],
      `${upstream.apiKey}\n`,
    );
    expect(JSON.parse(key.out)).toMatchObject({ isActive: true, catalog: { name: 'box' } });
    expect((await svc(daemon, ['provider', 'test', 'box'])).out).toMatch(
      /result\tok[\s\S]*models can be called/,
    );
    expect((await svc(daemon, ['provider', 'test', 'box', '--model', 'gpt-test'])).out).toContain(
      'it answered',
    );
    const refused = await svc(daemon, ['provider', 'test', 'box', '--model', 'wants-another-key']);
    expect(refused.code).toBe(1);
    expect(refused.out).toMatch(/refused the key[\s\S]*next\tsvc provider add box --key-stdin/);
    const second = await svc(
      daemon,
      ['provider', 'key', 'add', 'box', '--key-stdin', '--weight', '3'],
      upstream.apiKey,
    );
    const id = second.out.trim();
    await svc(daemon, ['provider', 'key', 'toggle', id, 'off']);
    expect((await svc(daemon, ['provider', 'key', 'list', 'box'])).out).toContain(
      `${id}\tkey 2\t****${upstream.apiKey.slice(-4)}\t3\toff`,
    );
    expect((await svc(daemon, ['provider', 'key', 'remove', id])).code).toBe(0);
    expect((await svc(daemon, ['provider', 'remove', 'box'])).code).toBe(0);
    expect((await svc(daemon, ['provider', 'show', 'box'])).code).toBe(5);
    expect((await svc(daemon, ['provider', 'list'])).out).toMatch(/openai\tready/);
    expect((await svc(daemon, ['provider', 'catalog'])).out).toContain('ANTHROPIC_API_KEY');
  }, 60_000);

  test('show no key in the log, in answers or on disk', async () => {
    const answers = await Promise.all(
      ['configured', 'catalog', 'openai', 'config-yaml', 'api-keys/openai', 'api-keys/mistral'].map((path) =>
        call(daemon, 'GET', `/v1/providers/${path}`),
      ),
    );
    const files = readdirSync(daemon.dataDir, { withFileTypes: true }).filter((file) => file.isFile());
    const kept = files.map(({ name }) => readFileSync(join(daemon.dataDir, name)).toString('latin1'));
    expect(files.length).toBeGreaterThan(4);
    const everything = [daemon.log(), ...answers.map(({ text }) => text), ...kept].join('\n');
    for (const secret of [...SECRETS, upstream.apiKey]) expect(everything.includes(secret)).toBe(false);
  });
});

test('what was answered with 200 survives kill -9', async () => {
  const port = freePort();
  const first = await startDaemon({ port });
  await call(first, 'POST', '/v1/providers/lab/configure', {
    apiKey: upstream.apiKey,
    customBaseUrl: upstream.url,
  });
  await first.kill9();
  const second = await startDaemon({ port, dataDir: first.dataDir, apiKey: first.apiKey });
  expect(await ask(second, 'lab/gpt-test')).toBe('three two one');
  expect((await call(second, 'GET', '/v1/providers/sync-status')).body).toMatchObject({ inSync: true });
  await call(second, 'DELETE', '/v1/providers/lab');
  await second.kill9();
  const third = await startDaemon({ port, dataDir: first.dataDir, apiKey: first.apiKey });
  expect((await call(third, 'GET', '/v1/providers/lab')).status).toBe(404);
  await third.stop();
  rmSync(first.dataDir, { recursive: true, force: true });
}, 60_000);

describe('two tenants', () => {
  let tenants: TwoTenants;
  let otto: Tenant;
  let sam: Tenant;
  beforeAll(async () => {
    tenants = await TwoTenants.start({ env: { OPENAI_API_KEY: ENV_KEY } });
    otto = await Tenant.of(tenants, 'otto', await tenants.member('otto', 'owner'));
    sam = await Tenant.of(tenants, 'sam', await tenants.stranger('sam'));
  }, 60_000);
  afterAll(async () => {
    otto?.close();
    sam?.close();
    await tenants?.stop();
  });

  test('set up providers that the other does not see, and only the instance’s own sees its keys', async () => {
    const apiKey = 'sk-of-sam-never-shown-4444';
    const made = await sam.ask({ method: 'POST', target: '/v1/providers/groq/configure', body: { apiKey } });
    expect(made.status).toBe(200);
    const { configuration } = JSON.parse(made.text).provider;
    for (const target of ['/v1/providers/configured', '/v1/providers/config-yaml', '/v1/providers/groq']) {
      const { text } = await otto.ask({ method: 'GET', target });
      expect(text).not.toContain('4444');
      expect(text).not.toContain(configuration.id);
    }
    const foreign = { method: 'GET', target: `/v1/providers/api-keys/${configuration.id}` };
    expect([(await sam.ask(foreign)).status, (await otto.ask(foreign)).status]).toEqual([200, 404]);
    const shared = { method: 'GET', target: '/v1/providers/openai' };
    expect((await otto.ask(shared)).text).toContain('"****6789"');
    expect((await sam.ask(shared)).text).not.toContain('6789');
  });

  test('reach private addresses only by the word of the owner', async () => {
    const body = { customBaseUrl: upstream.url, apiKey: upstream.apiKey };
    const chat = { model: 'lab/gpt-test', messages: [{ role: 'user', content: 'one two' }] };
    const target = '/compat/v1/chat/completions';
    for (const tenant of [otto, sam])
      expect((await tenant.ask({ method: 'POST', target: '/v1/providers/lab/configure', body })).status).toBe(
        200,
      );
    expect((await otto.ask({ method: 'POST', target, body: chat })).status).toBe(200);
    const refused = await sam.ask({ method: 'POST', target, body: chat });
    expect(refused.status).toBeGreaterThanOrEqual(400);
    expect(refused.text).toContain('not public');
  });
});
