import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { startDaemon, type TestDaemon } from './support/daemon.ts';
import { driverCases } from './support/drivers.ts';
import { askOf, fieldOf, until } from './support/mcp-scene.ts';

// Sandboxes and the programs in them start in these tests, on machines that may be busy.
setDefaultTimeout(90_000);

/** A tool server for any image: it is asked for nothing but what it says. */
const SHELL_SERVER = `
echo 'not a message'
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n -e 's/.*"id":\\("[^"]*"\\).*/\\1/p' -e 's/.*"id":\\([0-9][0-9]*\\).*/\\1/p')
  case $line in
    *'"method":"server/discover"'*) answer='"error":{"code":-32601,"message":"no"}' ;;
    *'"method":"initialize"'*) answer='"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}' ;;
    *'"method":"tools/list"'*) answer='"result":{"tools":[{"name":"where","inputSchema":{"type":"object"}},{"name":"die","inputSchema":{"type":"object"}},{"name":"wait","inputSchema":{"type":"object"}}]}' ;;
    *'"method":"ping"'*) answer='"result":{}' ;;
    *'"name":"die"'*) echo 'these are my last words' >&2; exit 7 ;;
    *'"name":"wait"'*) continue ;;
    *'"method":"tools/call"'*) answer="\\"result\\":{\\"content\\":[{\\"type\\":\\"text\\",\\"text\\":\\"$SECRET at $(pwd)\\"}]}" ;;
    *) continue ;;
  esac
  echo "{\\"jsonrpc\\":\\"2.0\\",\\"id\\":$id,$answer}"
done`;

const SECRET = 'a-secret-of-the-program';
const ENV = { SVC_MCP_IDLE: '2s', SVC_MCP_HEALTH_INTERVAL: '1s', SVC_MCP_CALL_TIMEOUT: '5s' };

describe.each(driverCases)('servers that are programs, by $name', ({ name, env }) => {
  let daemon: TestDaemon;
  const ask = askOf(() => daemon);
  const image = env.SVC_SANDBOX_DOCKER_IMAGE || 'host';
  const call = async (toolName: string) =>
    (await ask('POST', '/v1/mcp/tools/call', { toolName, arguments: {} })).body.result;
  const register = (server: string, more: object = {}) =>
    ask('POST', '/v1/mcp/servers', {
      name: server,
      stdioConfig: {
        command: 'sh',
        args: ['-c', SHELL_SERVER],
        env: { SECRET },
        workingDir: '/tmp',
        image,
        ...more,
      },
    });
  const boxes = async () => {
    const response = await daemon.fetch('/v1/sandbox/instances?label_filter=svc.mcp=sh&limit=50');
    const { instances = [] } = (await response.json()) as { instances?: Array<{ lifecycleState: string }> };
    return instances.filter(({ lifecycleState }) => lifecycleState === 'running').length;
  };
  const health = async () => (await ask('GET', '/v1/mcp/servers/sh/health')).body;

  beforeEach(async () => {
    daemon = await startDaemon({ env: { ...env, ...ENV } });
  });
  afterEach(async () => {
    await daemon?.stop();
  });

  test('one runs in a sandbox of its own while it is used, and its secrets stay there', async () => {
    const made = await register('sh');
    expect(made.body.tools?.map(({ name: tool }) => tool).toSorted()).toEqual(['die', 'wait', 'where']);
    expect(made.body.server).toMatchObject({
      healthStatus: 'MCP_SERVER_HEALTH_STATUS_HEALTHY',
      stdioConfig: { env: { SECRET: '****gram' } },
    });
    expect(await boxes()).toBe(1);
    expect(await call('mcp__sh__where')).toMatchObject({ output: `${SECRET} at /tmp` });
    const listed = Bun.spawnSync(['ps', 'axww', '-o', 'args']).stdout.toString();
    expect(listed).not.toContain(SECRET);
    expect(daemon.log()).not.toContain(SECRET);
    await until(async () => (await boxes()) === 0);
    await until(async () => (await health()).status === 'MCP_SERVER_HEALTH_STATUS_UNKNOWN');
    expect(await call('mcp__sh__where')).toMatchObject({ output: `${SECRET} at /tmp` });
    const moved = await ask('PATCH', '/v1/mcp/servers/sh', { stdioConfig: { args: ['-c', 'env'] } });
    expect([moved.status, fieldOf(moved)]).toEqual([400, 'stdioConfig.command']);
    expect((await ask('DELETE', '/v1/mcp/servers/sh')).status).toBe(200);
    await until(async () => (await boxes()) === 0);
  });

  test('one that dies says why, and runs again at the next call', async () => {
    await register('sh');
    const died = await call('mcp__sh__die');
    expect(died?.error).toBe('The program of the server ended with code 7: these are my last words');
    expect(await call('mcp__sh__where')).toMatchObject({ status: 'MCP_TOOL_CALL_STATUS_SUCCESS' });
    const broken = await register('broken', { args: ['-c', 'echo no license >&2; exit 3'] });
    expect(broken.body.server?.healthStatus).toBe('MCP_SERVER_HEALTH_STATUS_UNHEALTHY');
    const { error } = (await ask('GET', '/v1/mcp/servers/broken/health')).body;
    expect(error).toBe('The program of the server ended with code 3: no license');
    const missing = await register('missing', { command: '/no/such/program', args: [] });
    expect(missing.body.server?.healthStatus).toBe('MCP_SERVER_HEALTH_STATUS_UNHEALTHY');
  });

  test('after kill -9 its sandbox is gone, and the next call makes another; a stop leaves none', async () => {
    await register('sh');
    const waiting = call('mcp__sh__wait').catch(() => 'cut');
    await Bun.sleep(200);
    const { dataDir, apiKey } = daemon;
    await daemon.kill9();
    expect(await waiting).toBe('cut');
    daemon = await startDaemon({ dataDir, apiKey, env: { ...env, ...ENV } });
    await until(async () => (await boxes()) === 0);
    expect(await call('mcp__sh__where')).toMatchObject({ output: `${SECRET} at /tmp` });
    expect(await boxes()).toBe(1);
    await daemon.stop({ keep: true });
    daemon = await startDaemon({ dataDir, apiKey, env: { ...env, ...ENV } });
    expect(await boxes()).toBe(0);
  });

  test('there are no more of them at once than the instance allows', async () => {
    await daemon.stop();
    daemon = await startDaemon({ env: { ...env, ...ENV, SVC_MCP_IDLE: '1m', SVC_MCP_PROGRAMS: '1' } });
    await register('sh');
    await register('sh two');
    await until(async () => (await boxes()) === 0);
    const waiting = call('mcp__sh_two__wait');
    await Bun.sleep(100);
    expect(await call('mcp__sh__where')).toMatchObject({
      status: 'MCP_TOOL_CALL_STATUS_ERROR',
      error: 'All 1 programs of tool servers are busy (mcp.programs).',
    });
    expect(await waiting).toMatchObject({ status: 'MCP_TOOL_CALL_STATUS_TIMEOUT' });
    // The program is let go a moment after its caller has heard of the timeout.
    await until(async () => (await call('mcp__sh__where'))?.output === `${SECRET} at /tmp`);
  });

  test('one that says too much at once is ended', async () => {
    const flood = 'head -c 20000000 /dev/zero | tr "\\0" x; sleep 60';
    const made = await register('flood', { args: ['-c', flood] });
    expect(made.body.server?.healthStatus).toBe('MCP_SERVER_HEALTH_STATUS_UNHEALTHY');
  });

  test.skipIf(name === 'docker')('published servers work on the files of a sandbox', async () => {
    const box = await daemon.fetch('/v1/sandbox', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ image: 'host', name: 'box' }),
    });
    const { id } = (await box.json()) as { id: string };
    for (const server of ['memory', 'filesystem']) {
      const made = await ask('POST', '/v1/mcp/servers', {
        name: server,
        stdioConfig: {
          command: 'node',
          args: [await install(daemon, id, server), '/home/svc'],
          env: { MEMORY_FILE_PATH: '/home/svc/graph.json' },
          sandboxId: id,
        },
      });
      expect([server, made.body.server?.healthStatus]).toEqual([server, 'MCP_SERVER_HEALTH_STATUS_HEALTHY']);
    }
    const entities = [{ name: 'Ada', entityType: 'person', observations: ['likes engines'] }];
    const args = { toolName: 'mcp__memory__create_entities', arguments: { entities } };
    expect((await ask('POST', '/v1/mcp/tools/call', args)).body.result?.error).toBe('');
    const read = async (path: string) =>
      (
        await ask('POST', '/v1/mcp/tools/call', {
          toolName: 'mcp__filesystem__read_text_file',
          arguments: { path },
        })
      ).body.result;
    expect((await read('/home/svc/graph.json'))?.output).toContain('likes engines');
    expect((await read('/etc/passwd'))?.output).toStartWith('Error from MCP tool: Access denied');
    const state = async () =>
      (
        (await (await daemon.fetch(`/v1/sandbox/instances/${id}`)).json()) as {
          instance: { lifecycleState: string };
        }
      ).instance.lifecycleState;
    await ask('DELETE', '/v1/mcp/servers/memory');
    expect(await state()).toBe('running');
  });
});

/** Puts a published server into a sandbox, as one file. Answers where it is. */
async function install(daemon: TestDaemon, sandbox: string, server: string): Promise<string> {
  const entry = join(import.meta.dir, `../node_modules/@modelcontextprotocol/server-${server}/dist/index.js`);
  const built = await Bun.build({ entrypoints: [entry], target: 'node', format: 'esm' });
  const path = `/home/svc/${server}.mjs`;
  const response = await daemon.fetch(`/v1/sandbox/${sandbox}/files/content?path=${path}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/octet-stream' },
    body: await built.outputs[0]?.text(),
  });
  expect(response.status).toBe(200);
  return path;
}
