import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { ChildServer } from './support/child-server.ts';
import { startDaemon, svcCommand, type TestDaemon } from './support/daemon.ts';
import { type Hostility, startHostileServer } from './support/mcp-hostile.ts';
import {
  type Answer,
  askOf,
  at,
  mcpOf,
  resultOf,
  startEverything,
  toolsOf,
  until,
} from './support/mcp-scene.ts';
import { type McpRequestSeen, startMcpServer } from './support/mcp-server.ts';
import { NO_SANDBOXES } from './support/tenants/two-tenants.ts';

// Servers of others start in these tests, on machines that may be busy.
setDefaultTimeout(60_000);

describe('servers of others', () => {
  let daemon: TestDaemon;
  let everything: Awaited<ReturnType<typeof startEverything>>;
  let own: ChildServer<McpRequestSeen>;
  const { ask, register, call } = mcpOf(() => daemon);

  beforeAll(async () => {
    [everything, own] = await Promise.all([startEverything(), startMcpServer()]);
    const env = { ...NO_SANDBOXES, SVC_MCP_CALL_TIMEOUT: '1s', SVC_MCP_HEALTH_INTERVAL: '1s' };
    daemon = await startDaemon({ env });
  });
  afterAll(async () => {
    await daemon?.stop();
    await everything?.stop();
    await own?.stop();
  });

  test.each([
    ['MCP_TRANSPORT_TYPE_STREAMABLE_HTTP', () => at(everything.http)],
    ['MCP_TRANSPORT_TYPE_SSE', () => at(everything.sse, '/sse')],
  ])(
    'a published server is registered with its tools, which can be called: %s',
    async (transportType, url) => {
      const { status, body } = await register(`the ${transportType}`, { url: url(), transportType });
      expect(status).toBe(200);
      expect(body.server).toMatchObject({
        enabled: true,
        healthStatus: 'MCP_SERVER_HEALTH_STATUS_HEALTHY',
        toolCount: body.tools?.length,
      });
      expect(toolsOf({ status, body })).toContain('get-sum');
      const prefix = `mcp__the_${transportType}__`;
      const federated = await ask('GET', `/v1/mcp/tools?namePrefix=${prefix}`);
      const echo = federated.body.tools?.find(({ name }) => name === `${prefix}echo`);
      expect(echo?.description).toBe(`[MCP:the ${transportType}] Echoes back the input string`);
      expect(echo?.inputSchema).toMatchObject({ type: 'object', required: ['message'] });
      expect(resultOf(await call(`${prefix}get-sum`, { a: 2, b: 40 }))).toMatchObject({
        status: 'MCP_TOOL_CALL_STATUS_SUCCESS',
        output: 'The sum of 2 and 40 is 42.',
        error: '',
        inputArgs: { a: 2, b: 40 },
      });
      const image = resultOf(await call(`${prefix}get-tiny-image`));
      expect(image?.output).toContain('[image: image/png]');
    },
  );

  test('the newest revision of the protocol is spoken with servers that have no other', async () => {
    const modern = await startMcpServer({ modernOnly: true });
    try {
      const { body } = await register('modern', { url: at(modern.port) });
      expect(body.tools?.length).toBe(7);
      expect(resultOf(await call('mcp__modern__echo', { text: 'new' }))?.output).toBe('new');
      const seen: string[] = [];
      for (let i = 0; i < 3; i++) {
        const { rpc, version } = await modern.next();
        expect(version).toBe('2026-07-28');
        seen.push(rpc);
      }
      expect(seen).toEqual(['server/discover', 'tools/list', 'tools/call']);
    } finally {
      await modern.stop();
    }
  });

  describe('what a tool answers', () => {
    beforeAll(async () => void (await register('own', { url: at(own.port) })));

    test.each<[string, object, object]>([
      ['echo', { text: 'a\nb' }, { status: 'MCP_TOOL_CALL_STATUS_SUCCESS', output: 'a\nb', error: '' }],
      ['structured', {}, { status: 'MCP_TOOL_CALL_STATUS_SUCCESS', output: '{"a":1}' }],
      [
        'blocks',
        {},
        {
          output:
            'one\n[image: image/png]\n[resource: file:///a.txt]\n{"name":"b","uri":"file:///b.txt","type":"resource_link"}',
        },
      ],
      [
        'fails',
        {},
        {
          status: 'MCP_TOOL_CALL_STATUS_ERROR',
          output: 'Error from MCP tool: it went wrong',
          error: 'it went wrong',
        },
      ],
      ['slow', { ms: 5_000 }, { status: 'MCP_TOOL_CALL_STATUS_TIMEOUT' }],
      ['steps', { count: 4, ms: 500 }, { status: 'MCP_TOOL_CALL_STATUS_SUCCESS', output: 'done' }],
      ['large', { mb: 17 }, { status: 'MCP_TOOL_CALL_STATUS_ERROR' }],
    ])('%s', async (tool, args, expected) => {
      const { status, body } = await call(`mcp__own__${tool}`, args);
      expect(status).toBe(200);
      expect(body.result).toMatchObject({ toolName: tool, ...expected });
    });

    test('more than a megabyte of text is cut', async () => {
      const output = String(resultOf(await call('mcp__own__large', { mb: 2 }))?.output);
      expect(output.length).toBeLessThan(1_100_000);
      expect(output.slice(-60)).toContain('1048576 more characters were cut off');
    });

    test('who leaves a call ends it, and the server is there for the next', async () => {
      const leaving = new AbortController();
      const slow = daemon
        .fetch('/v1/mcp/tools/call', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ toolName: 'mcp__own__slow', arguments: { ms: 900 } }),
          signal: leaving.signal,
        })
        .catch(() => 'left');
      await Bun.sleep(150);
      leaving.abort();
      expect(await slow).toBe('left');
      expect(resultOf(await call('mcp__own__echo', { text: 'still' }))?.output).toBe('still');
    });

    test('a tool is found by the id or name of its server too', async () => {
      expect(resultOf(await call('echo', { text: 'x' }, 'own'))?.output).toBe('x');
      expect(resultOf(await call('mcp__own__echo', { text: 'y' }, 'own'))?.output).toBe('y');
    });
  });

  test('missing, disabled and filtered tools are not found, in the same words', async () => {
    const made = await register('hidden', {
      url: at(own.port),
      toolFilter: { type: 'include', tools: ['echo', 'fails'] },
    });
    const id = made.body.server?.id ?? '';
    expect(toolsOf(await ask('GET', '/v1/mcp/tools?serverIds=hidden'))).toEqual([
      'mcp__hidden__echo',
      'mcp__hidden__fails',
    ]);
    expect((await call('slow', {}, id)).status).toBe(404);
    await ask('PATCH', `/v1/mcp/servers/${id}`, { toolFilter: { type: 'exclude', tools: ['echo'] } });
    expect(toolsOf(await ask('GET', `/v1/mcp/tools?serverIds=${id}`))).not.toContain('mcp__hidden__echo');
    await ask('PATCH', `/v1/mcp/servers/${id}`, { enabled: false });
    const disabled = await call('fails', {}, id);
    const missing = await call('fails', {}, 'mcp_nothere');
    expect(disabled.status).toBe(404);
    expect(disabled.body.message?.replace(id, 'ID')).toBe(missing.body.message?.replace('mcp_nothere', 'ID'));
    expect((await call('mcp__hidden__fails')).status).toBe(404);
    expect(toolsOf(await ask('GET', '/v1/mcp/tools'))).not.toContain('mcp__hidden__fails');
    expect((await ask('GET', `/v1/mcp/servers/${id}/tools`)).status).toBe(409);
    const names = (list: Answer) => list.body.servers?.map(({ name }) => name);
    expect(names(await ask('GET', '/v1/mcp/servers'))).toContain('hidden');
    expect(names(await ask('GET', '/v1/mcp/servers?enabledOnly=true'))).not.toContain('hidden');
  });

  test('a renamed server drops the old names of its tools', async () => {
    await register('old name', { url: at(own.port) });
    await ask('PATCH', '/v1/mcp/servers/old name', { name: 'näw' });
    expect((await call('mcp__old_name__echo')).status).toBe(404);
    expect(resultOf(await call('mcp__n_w__echo', { text: 'z' }))?.output).toBe('z');
    const taken = await register('n w', { url: at(own.port) });
    expect(taken.status).toBe(409);
  });

  test('a server that forgets its session is greeted again', async () => {
    const one = await startEverything({ sse: false });
    await register('forgetful', { url: at(one.http) });
    expect(resultOf(await call('mcp__forgetful__echo', { message: '1' }))?.output).toBe('Echo: 1');
    await one.restart();
    expect(resultOf(await call('mcp__forgetful__echo', { message: '2' }))?.output).toBe('Echo: 2');
    await one.stop();
  });

  test('one that is not there is registered without tools, and its health tells', async () => {
    const first = await startMcpServer();
    const { port } = first;
    await first.stop();
    const { status, body } = await register('down', { url: at(port) });
    expect([status, body.tools, body.server?.healthStatus]).toEqual([
      200,
      [],
      'MCP_SERVER_HEALTH_STATUS_UNHEALTHY',
    ]);
    const health = async () => (await ask('GET', '/v1/mcp/servers/down/health')).body;
    expect((await health()).error).toContain('127.0.0.1');
    expect((await ask('GET', '/v1/mcp/servers/down/tools')).status).toBe(502);
    const again = await startMcpServer({ port });
    await until(async () => (await health()).status === 'MCP_SERVER_HEALTH_STATUS_HEALTHY');
    await until(async () => toolsOf(await ask('GET', '/v1/mcp/tools')).includes('mcp__down__echo'));
    await again.stop();
    await until(async () => (await health()).status === 'MCP_SERVER_HEALTH_STATUS_UNHEALTHY');
    const { status: ended } = await call('mcp__down__echo', { text: 'x' });
    expect(ended).toBe(200);
  });

  describe('a server that means no good', () => {
    let hostile: ReturnType<typeof startHostileServer>;
    const badAt = (hostility: Hostility) =>
      `http://127.0.0.1:${hostile.port}/${encodeURIComponent(hostility)}`;
    beforeAll(() => {
      hostile = startHostileServer();
    });
    afterAll(() => hostile.stop());

    test('a list without an end is cut, and so are tools that are too large', async () => {
      const endless = await register('endless', { url: badAt('endless pages') });
      expect(endless.body.server?.toolCount).toBe(1_000);
      const huge = await register('huge', { url: badAt('huge tools') });
      const names = toolsOf(huge);
      expect(names).toContain('t0');
      expect(names).not.toContain('t1');
      expect(JSON.stringify(huge.body).length).toBeLessThan(3_000_000);
      for (const name of ['endless', 'huge']) await ask('DELETE', `/v1/mcp/servers/${name}`);
    });

    test('news without end are read once a second', async () => {
      await register('news', { url: badAt('news without end') });
      expect(resultOf(await call('mcp__news__echo'))?.output).toBe('at last');
      expect((await call('mcp__news__echo')).status).toBe(200);
      await ask('DELETE', '/v1/mcp/servers/news');
    });

    test('one that answers garbage harms nobody else', async () => {
      const sent = register('garbage', { url: badAt('garbage') });
      expect(resultOf(await call('mcp__own__echo', { text: 'meanwhile' }))?.output).toBe('meanwhile');
      expect((await sent).body.server?.healthStatus).toBe('MCP_SERVER_HEALTH_STATUS_UNHEALTHY');
      await ask('DELETE', '/v1/mcp/servers/garbage');
    });

    test('a server that is silent keeps no stop waiting', async () => {
      const second = await startDaemon({ env: { ...NO_SANDBOXES, SVC_SERVER_STOP_TIMEOUT: '1s' } });
      const quiet = askOf(() => second)('POST', '/v1/mcp/servers', { name: 'quiet', url: badAt('silence') });
      await Bun.sleep(300);
      const began = performance.now();
      const stopped = second.stop();
      await quiet.catch(() => undefined);
      await stopped;
      // Reaching a server may take fifteen seconds.
      expect(performance.now() - began).toBeLessThan(12_000);
    });
  });

  test('many calls at once are answered each with its own', async () => {
    const texts = Array.from({ length: 60 }, (_, i) => `text ${i}`);
    const answers = await Promise.all(texts.map((text) => call('mcp__own__echo', { text })));
    expect(answers.map((answer) => resultOf(answer)?.output)).toEqual(texts);
  });

  test('after kill -9 servers, tools, credentials and filters are there', async () => {
    await register('kept', {
      url: at(own.port),
      headers: { 'X-Kept': 'kept-secret-12345' },
      toolFilter: { type: 'exclude', tools: ['slow'] },
    });
    const { dataDir, apiKey } = daemon;
    await daemon.kill9();
    daemon = await startDaemon({ dataDir, apiKey, env: { ...NO_SANDBOXES, SVC_MCP_CALL_TIMEOUT: '1s' } });
    const { body } = await ask('GET', '/v1/mcp/servers/kept');
    expect(body.server).toMatchObject({ toolCount: 7, headers: { 'X-Kept': '****2345' } });
    expect(resultOf(await call('mcp__kept__echo', { text: 'again' }))?.output).toBe('again');
    await ask('DELETE', '/v1/mcp/servers/kept');
    expect((await ask('GET', '/v1/mcp/servers/kept')).status).toBe(404);
    expect((await call('mcp__kept__echo')).status).toBe(404);
  });

  test('the command line adds, shows, calls and removes', async () => {
    const svc = async (...words: string[]) => {
      const child = Bun.spawn([...svcCommand(), ...words], {
        env: { ...process.env, SVC_API_KEY: daemon.apiKey, SVC_API_URL: daemon.url, NO_COLOR: '1' },
        stdout: 'pipe',
        stderr: 'pipe',
      });
      const [out, err] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ]);
      return { out, err, code: await child.exited };
    };
    const added = await svc('mcp', 'add', 'cli', at(own.port), '--exclude', 'slow');
    expect(added.out.trim()).toMatch(/^mcp_/);
    expect((await svc('mcp', 'list')).out).toMatch(/cli\tstreamable-http\thttp:.*\t7\thealthy/);
    expect((await svc('mcp', 'tools', '--prefix', 'mcp__cli__')).out).not.toContain('slow');
    const echoed = await svc('mcp', 'call', 'mcp__cli__echo', '{"text":"from the shell"}');
    expect([echoed.out, echoed.code]).toEqual(['from the shell\n', 0]);
    const failed = await svc('mcp', 'call', 'fails', '--server', 'cli');
    expect([failed.err.includes('it went wrong'), failed.code]).toEqual([true, 1]);
    expect((await svc('mcp', 'health', 'cli')).out).toContain('healthy');
    expect((await svc('mcp', 'update', 'cli', '--off')).out).toContain('off');
    expect(JSON.parse((await svc('mcp', 'config', 'windsurf')).out)).toEqual({
      mcpServers: {
        svc: { serverUrl: `${daemon.url}/mcp`, headers: { 'x-svc-api-key': `\${env:SVC_API_KEY}` } },
      },
    });
    expect((await svc('mcp', 'rm', 'cli')).code).toBe(0);
    expect((await svc('mcp', 'get', 'cli')).code).toBe(5);
  });
});
