import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChildServer } from './support/child-server.ts';
import { startDaemon, type TestDaemon } from './support/daemon.ts';
import { type Answer, askOf, at, fieldOf, mcpOf, resultOf, toolsOf, until } from './support/mcp-scene.ts';
import { type McpRequestSeen, startMcpServer } from './support/mcp-server.ts';
import { signInAtProvider, startOidcProvider } from './support/oidc-provider.ts';
import { NO_SANDBOXES, TwoTenants } from './support/tenants/two-tenants.ts';

// Servers of others start in these tests, on machines that may be busy.
setDefaultTimeout(60_000);

describe('what servers are given to prove who calls', () => {
  let daemon: TestDaemon;
  let own: ChildServer<McpRequestSeen>;
  const { ask, register, call } = mcpOf(() => daemon);

  beforeAll(async () => {
    own = await startMcpServer();
    daemon = await startDaemon({ env: { ...NO_SANDBOXES, SVC_MCP_HEALTH_INTERVAL: '1s' } });
    await register('own', { url: at(own.port) });
  });
  afterAll(async () => {
    await daemon?.stop();
    await own?.stop();
  });

  describe('credentials', () => {
    test.each<[string, object, object, Record<string, string>]>([
      [
        'bearer',
        { authType: 'MCP_AUTH_TYPE_BEARER', authConfig: { token: 'token-123456789' } },
        { requires: { authorization: 'Bearer token-123456789' } },
        { token: '****6789' },
      ],
      [
        'key',
        {
          authType: 'MCP_AUTH_TYPE_API_KEY',
          authConfig: { api_key: 'key-123456789', header: 'X-Their-Key' },
        },
        { requires: { 'x-their-key': 'key-123456789' } },
        { apiKey: '****6789', header: 'X-Their-Key' },
      ],
      [
        'query',
        { authType: 'MCP_AUTH_TYPE_API_KEY', authConfig: { apiKey: 'key-123456789', parameter: 'k' } },
        { query: { k: 'key-123456789' } },
        { apiKey: '****6789', parameter: 'k' },
      ],
      [
        'headers',
        { headers: { 'X-Team': 'team-secret-1234' } },
        { requires: { 'x-team': 'team-secret-1234' } },
        {},
      ],
    ])(
      '%s: sent to the server, masked in answers, kept by a change',
      async (name, wanted, demands, shown) => {
        const server = await startMcpServer(demands);
        try {
          const { body } = await register(name, { url: at(server.port), ...wanted });
          expect(body.server).toMatchObject({
            healthStatus: 'MCP_SERVER_HEALTH_STATUS_HEALTHY',
            authConfig: shown,
          });
          const text = JSON.stringify(body);
          expect(text).not.toContain('123456789');
          expect(text).not.toContain('team-secret');
          const { authConfig, headers } = body.server ?? {};
          const same = await ask('PATCH', `/v1/mcp/servers/${name}`, { authConfig, headers, enabled: true });
          expect(same.status).toBe(200);
          expect(resultOf(await call(`mcp__${name}__echo`, { text: name }))?.output).toBe(name);
          const away = await ask('PATCH', `/v1/mcp/servers/${name}`, { url: 'https://thief.test/mcp' });
          expect([away.status, fieldOf(away)]).toEqual([400, 'url']);
          const database = readFileSync(join(daemon.dataDir, 'svc.db'), 'latin1');
          expect(database).not.toContain('key-123456789');
          expect(daemon.log()).not.toContain('123456789');
        } finally {
          await server.stop();
        }
      },
    );

    test.each([['MCP_TRANSPORT_TYPE_STREAMABLE_HTTP'], ['MCP_TRANSPORT_TYPE_SSE']])(
      'wrong ones are told as such: %s',
      async (transportType) => {
        const server = await startMcpServer({ requires: { authorization: 'Bearer right' } });
        await register('locked', {
          transportType,
          url: at(server.port),
          authType: 'MCP_AUTH_TYPE_BEARER',
          authConfig: { token: 'wrong' },
        });
        const { body } = await ask('GET', '/v1/mcp/servers/locked/health');
        expect(body).toMatchObject({
          status: 'MCP_SERVER_HEALTH_STATUS_UNHEALTHY',
          error: 'The server refuses the credentials (401).',
        });
        await ask('DELETE', '/v1/mcp/servers/locked');
        await server.stop();
      },
    );

    test('a redirect to another origin is not followed', async () => {
      const thief = await startMcpServer();
      const server = await startMcpServer({ redirect: at(thief.port) });
      await register('leads away', {
        url: at(server.port),
        authType: 'MCP_AUTH_TYPE_BEARER',
        authConfig: { token: 'token-123456789' },
      });
      const { body } = await ask('GET', '/v1/mcp/servers/leads away/health');
      expect(body.status).toBe('MCP_SERVER_HEALTH_STATUS_UNHEALTHY');
      await thief.stop();
      await expect(Promise.race([thief.next(), Bun.sleep(50).then(() => 'nothing')])).resolves.toBe(
        'nothing',
      );
      await server.stop();
    });
  });

  describe('OAuth 2', () => {
    const client = { clientId: 'svc', clientSecret: 'a secret of the client' };
    const begin = async (name: string) =>
      (await ask('POST', `/v1/mcp/servers/${name}/authorize`, {})).body as {
        authorizationUrl?: string;
        redirectUri?: string;
      };
    const finish = (query: URLSearchParams | string) =>
      fetch(`${daemon.url}/v1/mcp/oauth/callback?${query}`, { redirect: 'manual' });

    test('a person agrees once, tokens are refreshed, and go with the server', async () => {
      const redirectUri = `${daemon.url}/v1/mcp/oauth/callback`;
      const provider = await startOidcProvider({
        ...client,
        redirectUris: [redirectUri],
        accounts: { sam: { email: 'sam@example.com' } },
        accessTokenTtl: 32,
      });
      const issuer = `http://localhost:${provider.port}`;
      const server = await startMcpServer({ issuer });
      const authConfig = {
        ...client,
        authorizationUrl: `${issuer}/auth`,
        tokenUrl: `${issuer}/token`,
        scopes: ['openid', 'offline_access'],
      };
      const made = await register('oauth', {
        url: at(server.port),
        authType: 'MCP_AUTH_TYPE_OAUTH2',
        authConfig,
      });
      expect(made.body.server).toMatchObject({
        healthStatus: 'MCP_SERVER_HEALTH_STATUS_UNHEALTHY',
        authConfig: { clientSecret: '****ient', scopes: ['openid', 'offline_access'] },
      });
      const { error } = (await ask('GET', '/v1/mcp/servers/oauth/health')).body;
      expect(error).toContain('svc mcp authorize oauth');
      const begun = await begin('oauth');
      expect(begun.redirectUri).toBe(redirectUri);
      const url = new URL(begun.authorizationUrl ?? '');
      expect(url.searchParams.get('code_challenge_method')).toBe('S256');
      expect(url.searchParams.get('resource')).toBe(at(server.port));
      url.searchParams.set('prompt', 'consent');
      const returned = await signInAtProvider(url.href, 'sam');
      expect((await finish('state=forged&code=x')).status).toBe(401);
      const page = await finish(returned);
      expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      expect(await page.text()).toContain('oauth');
      expect((await finish(returned)).status).toBe(401);
      await until(async () => toolsOf(await ask('GET', '/v1/mcp/tools')).includes('mcp__oauth__echo'));
      expect(await provider.next()).toEqual({ grant: 'authorization_code' });
      expect(resultOf(await call('mcp__oauth__echo', { text: 'in' }))?.output).toBe('in');
      // It is not used any more in its last half minute.
      await Bun.sleep(2_500);
      const calls = [1, 2, 3].map(() => call('mcp__oauth__echo', { text: 'on' }));
      for (const one of await Promise.all(calls)) expect(resultOf(one)?.output).toBe('on');
      expect(await provider.next()).toEqual({ grant: 'refresh_token' });
      expect(daemon.log()).not.toContain('eyJ');
      const seen: Array<string | null> = [];
      const other = Bun.serve({
        port: 0,
        hostname: '127.0.0.1',
        fetch(request) {
          seen.push(request.headers.get('authorization'));
          return new Response(null, { status: 404 });
        },
      });
      const moved = await ask('PATCH', '/v1/mcp/servers/oauth', { url: at(other.port ?? 0), authConfig });
      expect(moved.body.server?.toolCount).toBe(0);
      await call('mcp__oauth__echo');
      expect(seen.filter((header) => header !== null)).toEqual([]);
      await other.stop(true);
      await ask('DELETE', '/v1/mcp/servers/oauth');
      const database = new Database(join(daemon.dataDir, 'svc.db'), {
        readonly: true,
      });
      expect(database.query('SELECT count(*) AS n FROM mcp_tokens').get()).toEqual({ n: 0 });
      expect(database.query('SELECT count(*) AS n FROM mcp_authorizations').get()).toEqual({ n: 0 });
      database.close();
      await provider.stop();
      await server.stop();
    });

    test.each([['basic'], ['body']])('a client of its own gets tokens by itself, as %s', async (proof) => {
      let grants = 0;
      const issuer = Bun.serve({
        port: 0,
        hostname: '127.0.0.1',
        async fetch(request) {
          const form = new URLSearchParams(await request.text());
          const basic = `Basic ${Buffer.from('me%3A:s%20ecret').toString('base64')}`;
          const isRight =
            proof === 'basic'
              ? request.headers.get('authorization') === basic
              : form.get('client_id') === 'me:' && form.get('client_secret') === 's ecret';
          if (!isRight) return Response.json({ error: 'invalid_client' }, { status: 401 });
          expect([form.get('grant_type'), form.get('scope')]).toEqual(['client_credentials', 'a b']);
          grants++;
          return Response.json({ access_token: 'cc-token-12345', token_type: 'Bearer', expires_in: 3600 });
        },
      });
      const server = await startMcpServer({ requires: { authorization: 'Bearer cc-token-12345' } });
      const made = await register(`machine ${proof}`, {
        url: at(server.port),
        authType: 'MCP_AUTH_TYPE_OAUTH2',
        authConfig: {
          grant: 'client_credentials',
          clientId: 'me:',
          clientSecret: 's ecret',
          tokenUrl: `http://127.0.0.1:${issuer.port}/token`,
          scopes: ['a', 'b'],
        },
      });
      expect(made.body.server?.healthStatus).toBe('MCP_SERVER_HEALTH_STATUS_HEALTHY');
      expect(resultOf(await call(`mcp__machine_${proof}__echo`, { text: 'in' }))?.output).toBe('in');
      const before = grants;
      expect(resultOf(await call(`mcp__machine_${proof}__echo`, { text: 'on' }))?.output).toBe('on');
      expect(grants).toBe(before);
      await ask('DELETE', `/v1/mcp/servers/machine ${proof}`);
      await server.stop();
      await issuer.stop(true);
    });

    test('a server that needs nobody to agree cannot be authorized', async () => {
      expect((await ask('POST', '/v1/mcp/servers/own/authorize', {})).status).toBe(409);
      expect((await ask('POST', '/v1/mcp/servers/nothere/authorize', {})).status).toBe(404);
    });
  });

  test.each<[string, object, number, string | undefined]>([
    ['no name', { url: 'https://a.test/mcp' }, 400, 'name'],
    ['a name with a line end', { name: 'a\nb', url: 'https://a.test/mcp' }, 400, 'name'],
    ['a name that is taken', { name: 'own', url: 'https://a.test/mcp' }, 409, undefined],
    ['no address', { name: 'x' }, 400, 'url'],
    ['a file', { name: 'x', url: 'file:///etc/passwd' }, 400, 'url'],
    ['a password in it', { name: 'x', url: 'https://a:b@c.test' }, 400, 'url'],
    [
      'a program with an address',
      { name: 'x', url: 'https://a.test', transportType: 'MCP_TRANSPORT_TYPE_STDIO' },
      400,
      'url',
    ],
    ['no program', { name: 'x', stdioConfig: {} }, 400, 'stdioConfig.command'],
    [
      'a directory that is none',
      { name: 'x', stdioConfig: { command: 'a', workingDir: 'b' } },
      400,
      'stdioConfig.workingDir',
    ],
    [
      'a variable that is none',
      { name: 'x', stdioConfig: { command: 'a', env: { 'A=B': 'c' } } },
      400,
      'stdioConfig.env.A=B',
    ],
    [
      'a bearer without a token',
      { name: 'x', url: 'https://a.test', authType: 'MCP_AUTH_TYPE_BEARER' },
      400,
      'authConfig.token',
    ],
    [
      'an unknown field of authConfig',
      {
        name: 'x',
        url: 'https://a.test',
        authType: 'MCP_AUTH_TYPE_BEARER',
        authConfig: { token: 'a', more: 'b' },
      },
      400,
      'authConfig.more',
    ],
    ['a mask', { name: 'x', url: 'https://a.test', headers: { 'X-A': '****' } }, 400, 'headers.X-A'],
    [
      'a header of ours',
      { name: 'x', url: 'https://a.test', headers: { 'Mcp-Session-Id': 'a' } },
      400,
      'headers.Mcp-Session-Id',
    ],
    [
      'a filter without a type',
      { name: 'x', url: 'https://a.test', toolFilter: { tools: ['a'] } },
      400,
      'toolFilter.type',
    ],
    ['the metadata service', { name: 'x', url: 'http://169.254.169.254/mcp' }, 400, undefined],
    [
      'an unknown sandbox',
      { name: 'x', stdioConfig: { command: 'a', sandboxId: 'nothere' } },
      404,
      undefined,
    ],
  ])('%s is refused and nothing is registered', async (_, body, status, field) => {
    const before = (await ask('GET', '/v1/mcp/servers')).body.servers?.length;
    const answer = await ask('POST', '/v1/mcp/servers', body);
    expect([answer.status, fieldOf(answer)]).toEqual([status, field ?? fieldOf(answer)]);
    expect((await ask('GET', '/v1/mcp/servers')).body.servers?.length).toBe(before);
  });
});

test('two tenants never see, call, change or remove each other’s servers, and strangers reach nothing inside', async () => {
  const [tenants, server] = await Promise.all([TwoTenants.start(), startMcpServer()]);
  try {
    const keyOf = async ({ session }: { session: string }) =>
      (await tenants.key(tenants.fromPage(session))).key;
    const ada = askOf(() => tenants.daemon, await keyOf(await tenants.member('ada', 'owner')));
    const sam = askOf(() => tenants.daemon, await keyOf(await tenants.stranger('sam')));
    const url = `http://127.0.0.1:${server.port}/mcp`;
    const made = await ada('POST', '/v1/mcp/servers', { name: 'same', url });
    const id = made.body.server?.id ?? '';
    expect(made.body.tools?.length).toBe(7);
    for (const inside of [
      url,
      'http://localhost:1/mcp',
      'http://[::1]:1/mcp',
      'http://10.0.0.1/mcp',
      'http://0x7f000001:1/mcp',
      'http://169.254.169.254/latest/meta-data/',
    ]) {
      const refused = await sam('POST', '/v1/mcp/servers', { name: 'same', url: inside });
      expect([inside, refused.status, fieldOf(refused) ?? 'url']).toEqual([inside, 400, 'url']);
      const sse = { name: 'same', url: inside, transportType: 'MCP_TRANSPORT_TYPE_SSE' };
      expect((await sam('POST', '/v1/mcp/servers', sse)).status).toBe(400);
    }
    const tokens = await sam('POST', '/v1/mcp/servers', {
      name: 'same',
      url: 'https://mcp.example.com/',
      authType: 'MCP_AUTH_TYPE_OAUTH2',
      authConfig: {
        grant: 'client_credentials',
        clientId: 'me',
        clientSecret: 'mine',
        tokenUrl: url,
      },
    });
    expect([tokens.status, tokens.body.message]).toEqual([400, expect.stringContaining('may not be called')]);
    const later = await sam('POST', '/v1/mcp/servers', { name: 'same', url, enabled: false });
    expect(later.status).toBe(200);
    expect((await sam('PATCH', '/v1/mcp/servers/same', { enabled: true })).status).toBe(400);
    const outside = { url: 'http://192.168.1.1/mcp', name: 'renamed', enabled: true };
    expect((await sam('PATCH', '/v1/mcp/servers/same', outside)).status).toBe(400);
    expect((await sam('GET', '/v1/mcp/servers/same')).body.server).toMatchObject({ url, enabled: false });
    for (const [method, path, body] of [
      ['GET', `/v1/mcp/servers/${id}`],
      ['GET', `/v1/mcp/servers/${id}/health`],
      ['GET', `/v1/mcp/servers/${id}/tools`],
      ['PATCH', `/v1/mcp/servers/${id}`, { name: 'taken' }],
      ['POST', `/v1/mcp/servers/${id}/authorize`, {}],
      ['DELETE', `/v1/mcp/servers/${id}`],
      ['POST', '/v1/mcp/tools/call', { serverId: id, toolName: 'echo' }],
      ['POST', '/v1/mcp/tools/call', { toolName: 'mcp__same__echo' }],
    ] as const)
      expect([method, path, (await sam(method, path, body)).status]).toEqual([method, path, 404]);
    expect(toolsOf(await sam('GET', '/v1/mcp/tools'))).toEqual([]);
    expect((await ada('GET', `/v1/mcp/servers/${id}`)).body.server?.name).toBe('same');
    await ada('PUT', '/api/interop/mcp/tools/svc_echo', { enabled: false });
    expect((await sam('GET', '/api/interop/mcp/tools')).body.tools).toEqual({} as never);
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const names = (answer: Answer) =>
      ((answer.body.result?.tools ?? []) as { name: string }[]).map(({ name }) => name);
    expect(names(await sam('POST', '/mcp', list))).toContain('svc_echo');
    expect(names(await ada('POST', '/mcp', list))).not.toContain('svc_echo');
  } finally {
    await tenants.stop();
    await server.stop();
  }
});
