import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { startDaemon, type TestDaemon } from './support/daemon.ts';
import { driverCases } from './support/drivers.ts';
import { askOf } from './support/mcp-scene.ts';
import { NO_SANDBOXES, TwoTenants } from './support/tenants/two-tenants.ts';

// Sandboxes start in these tests, on machines that may be busy.
setDefaultTimeout(60_000);

type Call = (name: string, args?: object) => Promise<{ isError: boolean; text: string }>;

/** A stock client that is connected to /mcp. */
async function connect(daemon: TestDaemon, mode: 'auto' | 'legacy', key = daemon.apiKey) {
  const client = new Client({ name: 'stock', version: '1' }, { versionNegotiation: { mode } });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${daemon.url}/mcp`), { requestInit }));
  const call: Call = async (name, args = {}) => {
    const { content, isError } = await client.callTool({ name, arguments: { ...args } });
    const [block] = content as Array<{ text: string }>;
    return { isError: isError === true, text: block?.text ?? '' };
  };
  return { client, call };
}

describe('this service as a server', () => {
  let daemon: TestDaemon;
  const ask = askOf(() => daemon);
  const post = (body: string, headers: Record<string, string>) =>
    fetch(`${daemon.url}/mcp`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
    });
  const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

  beforeAll(async () => {
    daemon = await startDaemon({ env: NO_SANDBOXES });
  });
  afterAll(async () => {
    await daemon?.stop();
  });

  test.each([
    ['auto', 'modern'],
    ['legacy', 'legacy'],
  ] as const)('the official client is served: %s', async (mode, era) => {
    const { client, call } = await connect(daemon, mode);
    expect(client.getProtocolEra()).toBe(era);
    expect(client.getServerVersion()?.name).toBe('svc');
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name);
    for (const name of ['svc_whoami', 'svc_echo', 'chat', 'list_models', 'memory_query', 'sandbox_exec'])
      expect(names).toContain(name);
    expect(tools.find(({ name }) => name === 'sandbox_terminate')?.annotations).toMatchObject({
      readOnlyHint: false,
      destructiveHint: true,
    });
    expect(await call('svc_echo', { text: 'héllo' })).toEqual({ isError: false, text: 'héllo' });
    expect(JSON.parse((await call('svc_whoami')).text)).toMatchObject({ role: 'owner' });
    expect((await call('list_models')).text).toContain('local/echo');
    expect((await call('chat', { model: 'local/echo', prompt: 'say it' })).text).toBe('say it');
    expect(await call('chat', { model: 'nobody/knows', prompt: 'x' })).toMatchObject({ isError: true });
    await client.close();
  });

  test('memory is stored and found', async () => {
    await ask('POST', '/v1/memory/collections', { name: 'notes' });
    const { client, call } = await connect(daemon, 'auto');
    const stored = await call('memory_store', {
      collection: 'notes',
      content: 'The badger sleeps in winter.',
      metadata: { about: 'badgers' },
    });
    expect(stored.isError).toBe(false);
    const found = await call('memory_query', { collection: 'notes', query: 'badger winter', topK: 3 });
    expect(found.text).toContain('The badger sleeps in winter.');
    const filtered = await call('memory_query', {
      collection: 'notes',
      query: 'badger',
      filter: { about: 'foxes' },
    });
    expect(JSON.parse(filtered.text)).toEqual({ results: [] });
    const missing = await call('memory_query', { collection: 'nothere', query: 'x' });
    expect(missing).toMatchObject({ isError: true, text: expect.stringContaining('nothere') });
    await client.close();
  });

  test.each<[string, Record<string, string>, number]>([
    ['a bearer token', { authorization: 'Bearer KEY' }, 200],
    ['the header of a key', { 'x-svc-api-key': 'KEY' }, 200],
    ['nothing', {}, 401],
    ['a wrong token', { authorization: 'Bearer s_wrong' }, 401],
    ['another scheme', { authorization: 'Basic KEY' }, 401],
  ])('%s is answered with its status', async (_, headers, status) => {
    const own = Object.entries(headers).map(([name, value]) => [name, value.replace('KEY', daemon.apiKey)]);
    const response = await post(PING, Object.fromEntries(own) as Record<string, string>);
    expect(response.status).toBe(status);
    expect(response.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null);
  });

  test.each<[string, string, number, object]>([
    ['what is no JSON', '{', 400, { jsonrpc: '2.0', id: null, error: { code: -32700 } }],
    ['a batch', `[${PING}]`, 400, { id: null, error: { code: -32600 } }],
    ['an unknown method', PING.replace('ping', 'nope'), 200, { id: 1, error: { code: -32601 } }],
    ['more than 4 MB', `"${'x'.repeat(4 * 1024 * 1024)}"`, 413, { code: 3 }],
  ])('%s is refused as it should be', async (_, body, status, expected) => {
    const response = await post(body, { 'x-svc-api-key': daemon.apiKey });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject(expected);
  });

  test('notifications are taken without a word, and nothing is streamed', async () => {
    const note = await post('{"jsonrpc":"2.0","method":"notifications/initialized"}', {
      'x-svc-api-key': daemon.apiKey,
    });
    expect([note.status, await note.text()]).toEqual([202, '']);
    const listening = await daemon.fetch('/mcp');
    expect([listening.status, listening.headers.get('allow')]).toEqual([405, 'POST']);
  });

  test('a tool that is switched off is hidden and refused, also after kill -9, until it is on again', async () => {
    const at = '/api/interop/mcp/tools';
    expect((await ask('GET', at)).body.tools).toEqual({} as never);
    expect((await ask('PUT', `${at}/svc_echo`, { enabled: false })).status).toBe(200);
    const { dataDir, apiKey } = daemon;
    await daemon.kill9();
    daemon = await startDaemon({ dataDir, apiKey, env: NO_SANDBOXES });
    expect((await ask('GET', at)).body.tools).toEqual({ svc_echo: false } as never);
    const { client, call } = await connect(daemon, 'auto');
    expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain('svc_echo');
    await expect(call('svc_echo', { text: 'x' })).rejects.toThrow('There is no tool svc_echo');
    expect((await ask('POST', `${at}/svc_echo`, { enabled: true })).status).toBe(200);
    expect((await call('svc_echo', { text: 'x' })).text).toBe('x');
    expect((await ask('PUT', `${at}/nothere`, { enabled: false })).status).toBe(404);
    expect((await ask('PUT', `${at}/svc_echo`, {})).status).toBe(400);
    await client.close();
  });

  test.each([
    ['claude', { type: 'http', url: 'URL', headers: { 'x-svc-api-key': `\${SVC_API_KEY}` } }],
    ['cursor', { url: 'URL', headers: { 'x-svc-api-key': `\${env:SVC_API_KEY}` } }],
    ['windsurf', { serverUrl: 'URL', headers: { 'x-svc-api-key': `\${env:SVC_API_KEY}` } }],
  ])('what %s needs can be pasted', async (client, expected) => {
    const config = await (await daemon.fetch(`/v1/mcp/config?client=${client}`)).text();
    expect(JSON.parse(config.replace(`${daemon.url}/mcp`, 'URL'))).toEqual({ mcpServers: { svc: expected } });
    expect((await ask('GET', '/v1/mcp/config?client=other')).status).toBe(400);
  });
});

test('a tool does no more than the role of its caller allows', async () => {
  const tenants = await TwoTenants.start();
  try {
    const owner = tenants.fromPage((await tenants.member('ada', 'owner')).session);
    const viewer = (await tenants.member('vic', 'viewer')).session;
    const refused = await fetch(`${tenants.daemon.url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...tenants.fromPage(viewer) },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });
    expect(refused.status).toBe(403);
    const { client, call } = await connect(tenants.daemon, 'auto', (await tenants.key(owner)).key);
    expect(JSON.parse((await call('svc_whoami')).text).tenant).toStartWith('org_');
    await client.close();
  } finally {
    await tenants.stop();
  }
});

describe.each(driverCases)('sandboxes for clients of /mcp, by $name', ({ name, env }) => {
  let daemon: TestDaemon;
  let call: Call;
  let close: () => Promise<void>;

  beforeAll(async () => {
    daemon = await startDaemon({ env });
    const connected = await connect(daemon, 'auto');
    call = connected.call;
    close = () => connected.client.close();
  });
  afterAll(async () => {
    await close?.();
    await daemon?.stop();
  });

  test('a client makes one, works in it, and ends it', async () => {
    const image = env.SVC_SANDBOX_DOCKER_IMAGE || (name === 'namespace' ? 'host' : undefined);
    const made = await call('sandbox_create', { name: 'box', ...(image ? { image } : {}) });
    const { id } = JSON.parse(made.text) as { id: string };
    expect(id).toStartWith('sbx_');
    expect((await call('sandbox_list')).text).toContain(id);
    const path = '/tmp/deep/er/hello.txt';
    const written = await call('sandbox_write_file', { sandbox: 'box', path, content: 'eins\nzwei\ndrei\n' });
    expect(written).toEqual({ isError: false, text: JSON.stringify({ path, size: 15 }) });
    expect((await call('sandbox_read_file', { sandbox: id, path })).text).toBe('eins\nzwei\ndrei\n');
    const some = await call('sandbox_read_file', { sandbox: id, path, offset: 2, limit: 1 });
    expect(some.text.trim()).toBe('zwei');
    expect((await call('sandbox_list_files', { sandbox: id, path: '/tmp/deep' })).text).toContain('er');
    const run = await call('sandbox_exec', {
      sandbox: id,
      command: 'echo "$WHO at $(pwd)"; echo oops >&2; exit 3',
      cwd: '/tmp/deep',
      env: { WHO: 'me' },
    });
    expect([run.isError, JSON.parse(run.text)]).toEqual([
      false,
      { exitCode: 3, stdout: 'me at /tmp/deep\n', stderr: 'oops\n' },
    ]);
    const late = JSON.parse(
      (await call('sandbox_exec', { sandbox: id, command: 'sleep 30', timeoutMs: 300 })).text,
    );
    expect([late.exitCode === 0, late.reason !== undefined]).toEqual([false, true]);
    const much = JSON.parse(
      (await call('sandbox_exec', { sandbox: id, command: 'yes | head -c 300000' })).text,
    );
    expect([much.stdout.length, much.truncated]).toEqual([100_000, true]);
    const exposed = JSON.parse((await call('sandbox_expose_port', { sandbox: id, port: 3000 })).text);
    expect(exposed.url).toContain('http://');
    expect(await call('sandbox_read_file', { sandbox: id, path: '/nothere' })).toMatchObject({
      isError: true,
    });
    expect((await call('sandbox_terminate', { sandbox: id })).isError).toBe(false);
    expect(await call('sandbox_exec', { sandbox: id, command: 'true' })).toMatchObject({ isError: true });
  });
});
