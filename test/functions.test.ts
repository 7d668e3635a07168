import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChildServer } from './support/child-server.ts';
import { startDaemon, svcCommand, type TestDaemon } from './support/daemon.ts';
import { driverCases } from './support/drivers.ts';
import { type ReceivedCall, startFunctionReceiver } from './support/function-receiver.ts';
import { TwoTenants } from './support/tenants/two-tenants.ts';

// Sandboxes and interpreters start in these tests, on machines that may be busy.
setDefaultTimeout(60_000);

interface Answer {
  readonly status: number;
  readonly body: {
    readonly function?: Record<string, unknown> & { readonly id: string };
    readonly status?: string;
    readonly result?: unknown;
    readonly error?: string;
    readonly logs?: string;
    readonly attempts?: number;
    readonly message?: string;
    readonly details?: ReadonlyArray<{
      readonly fieldViolations?: ReadonlyArray<{ readonly field: string }>;
    }>;
    readonly instances?: ReadonlyArray<{ readonly id: string; readonly labels?: object }>;
    readonly invocations?: ReadonlyArray<{ readonly status: string; readonly error?: string }>;
    readonly [name: string]: unknown;
  };
}

const askOf =
  (daemon: () => TestDaemon) =>
  async (method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Answer> => {
    const headers = { 'content-type': 'application/json' };
    const init = { method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body) };
    const response = await daemon().fetch(path, init);
    return { status: response.status, body: (await response.json()) as Answer['body'] };
  };

const fieldOf = ({ body }: Answer) =>
  body.details?.flatMap(({ fieldViolations = [] }) => fieldViolations)[0]?.field;

describe('functions that call out', () => {
  let daemon: TestDaemon;
  let receiver: ChildServer<ReceivedCall>;
  const ask = askOf(() => daemon);
  const at = (path: string) => `http://127.0.0.1:${receiver.port}${path}`;
  const invoke = (name: string, args: object = {}) =>
    ask('POST', `/v1/functions/${name}/invoke`, { arguments: args });
  const webhook = async (name: string, path: string, more: object = {}, own: object = {}) => {
    const body = { name, mode: 'webhook', webhook: { url: at(path), ...own }, ...more };
    const made = await ask('POST', '/v1/functions', body);
    expect(made.status).toBe(200);
    return made.body.function ?? { id: '' };
  };

  beforeAll(async () => {
    receiver = await startFunctionReceiver();
    const env = {
      SVC_OUTBOUND_ALLOW: `127.0.0.1:${receiver.port}`,
      SVC_SANDBOX_DRIVER: 'docker',
      SVC_DOCKER_SOCKET: '/nonexistent/docker.sock',
    };
    daemon = await startDaemon({ env });
  });
  afterAll(async () => {
    await daemon?.stop();
    await receiver?.stop();
  });

  test('a webhook gets the arguments, signed, and its answer is the result', async () => {
    await webhook(
      'signed',
      '/echo',
      {},
      { headers: { Authorization: 'Bearer t0ps3cr3t' }, secret: 'shared' },
    );
    const { body } = await invoke('signed', { city: 'Oslo' });
    expect(body).toMatchObject({ status: 'success', attempts: 1 });
    expect(body.result).toMatchObject({ got: '{"city":"Oslo"}' });
    const { headers, method, body: sent } = await receiver.next();
    expect(method).toBe('POST');
    expect(headers.authorization).toBe('Bearer t0ps3cr3t');
    expect(headers['x-svc-function']).toBe('signed');
    expect(headers['x-svc-signature']).toBe(
      `sha256=${createHmac('sha256', 'shared').update(sent).digest('hex')}`,
    );
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${sent}`;
    expect(headers['webhook-signature']).toBe(
      `v1,${createHmac('sha256', 'shared').update(signed).digest('base64')}`,
    );
  });

  test('it is tried again as often as was asked for, as the same call', async () => {
    await webhook('recovers', '/recovers/2', { maxRetries: 2 });
    const { body } = await invoke('recovers');
    expect(body).toMatchObject({ status: 'success', attempts: 3 });
    const calls = [await receiver.next(), await receiver.next(), await receiver.next()];
    expect(new Set(calls.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    await webhook('recovers_not', '/recovers/3', { maxRetries: 1 });
    expect((await invoke('recovers_not')).body).toMatchObject({ status: 'error', attempts: 2 });
    for (let i = 0; i < 2; i++) await receiver.next();
  });

  test.each<[string, string, object, string]>([
    [
      'an error of the caller',
      '/fails/404',
      { status: 'error', attempts: 1 },
      'answered 404: {"why":"as asked"}',
    ],
    ['an address elsewhere', '/moves', { status: 'error', attempts: 1 }, 'answered 302'],
    ['too much', '/large', { status: 'error' }, 'larger than'],
    ['what is not JSON', '/broken', { status: 'error' }, 'is not'],
    ['bytes', '/bytes', { status: 'error' }, 'not text'],
    ['silence', '/slow', { status: 'timeout' }, 'no answer within 300 ms'],
  ])('%s is told', async (_, path, outcome, words) => {
    const name = path.replaceAll('/', '_').slice(1);
    await webhook(name, path, { timeoutMs: 300 });
    const { status, body } = await invoke(name);
    await receiver.next();
    expect(status).toBe(200);
    expect(body).toMatchObject(outcome);
    expect(body.error).toContain(words);
  });

  test('a proxy maps arguments and answers', async () => {
    const proxy = {
      base_url: at('/'),
      path: '/v2/{city}/days',
      method: 'post',
      queryMapping: { units: 'metric', day: '$.days', none: '$.missing' },
      headerMapping: { 'X-Api-Key': 'k-123456789', 'X-Who': '{who.name}' },
      bodyMapping: { 'filter.city': '$.city', 'filter.count': '{count}', text: 'for {who.name}' },
      responseMapping: { city: '$.data.city.name', temperatures: '$.data.days[*].t' },
    };
    await ask('POST', '/v1/functions', { name: 'weather', mode: 'proxy', proxy });
    const args = { city: 'Å/..', days: ['mon', 'tue'], who: { name: 'Ada' }, count: 3 };
    const { body } = await invoke('weather', args);
    expect(body.result).toEqual({ city: 'Oslo', temperatures: [1, 2] });
    const call = await receiver.next();
    expect(call.target).toBe('/v2/%C3%85%2F../days?units=metric&day=mon&day=tue');
    expect(call.headers).toMatchObject({ 'x-api-key': 'k-123456789', 'x-who': 'Ada' });
    expect(JSON.parse(call.body)).toEqual({ filter: { city: 'Å/..', count: 3 }, text: 'for Ada' });
    const missing = await invoke('weather', {});
    expect(missing.status).toBe(400);
    expect(fieldOf(missing)).toBe('arguments.city');
  });

  test('arguments are checked against the schema before anything is called', async () => {
    const parameters = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
    await webhook('counted', '/echo', { parameters });
    const wrong = await invoke('counted', { n: 'one' });
    expect([wrong.status, fieldOf(wrong)]).toEqual([400, 'arguments.n']);
    expect((await ask('GET', '/v1/functions/counted/invocations')).body.invocations).toEqual([]);
    expect((await invoke('counted', { n: 1 })).body.status).toBe('success');
    await receiver.next();
  });

  test('addresses inside are refused at the call', async () => {
    for (const url of [
      'http://127.0.0.1:1/x',
      'http://localhost:1/x',
      'http://169.254.169.254/latest/meta-data/',
      'http://[::1]:1/',
      'http://10.0.0.1/',
      'http://0x7f000001:1/',
    ]) {
      const { body } = await ask('POST', '/v1/functions', { name: 'inside', webhook: { url } });
      const outcome = (await invoke('inside')).body;
      expect([url, outcome.status]).toEqual([url, 'error']);
      expect(outcome.error).toMatch(/not|refuse|allow/i);
      await ask('DELETE', `/v1/functions/${body.function?.id}`);
    }
  });

  test('secrets are shown as masks, kept by a change, and never sent to another server', async () => {
    const made = await webhook(
      'masked',
      '/echo',
      {},
      { headers: { 'X-Key': 'abcdefghijkl' }, secret: 'shared-secret' },
    );
    expect(made.webhook).toMatchObject({ headers: { 'X-Key': '****ijkl' }, secret: '****cret' });
    const same = { webhook: { headers: { 'X-Key': '****ijkl', 'X-New': 'abcdefghi' } }, description: 'new' };
    const changed = await ask('PATCH', `/v1/functions/${made.id}`, same);
    expect(changed.body.function).toMatchObject({ name: 'masked', description: 'new', timeoutMs: 30000 });
    await invoke('masked');
    const { headers } = await receiver.next();
    expect(headers).toMatchObject({ 'x-key': 'abcdefghijkl', 'x-new': 'abcdefghi' });
    const moved = await ask('PATCH', `/v1/functions/${made.id}`, { webhook: { url: 'https://thief.test/' } });
    expect([moved.status, fieldOf(moved)]).toEqual([400, 'webhook.url']);
    const forged = await ask('PATCH', `/v1/functions/${made.id}`, { webhook: { headers: { A: '****' } } });
    expect([forged.status, fieldOf(forged)]).toEqual([400, 'webhook.headers.A']);
    expect((await ask('GET', `/v1/functions/${made.id}`)).body.function?.webhook).toMatchObject({
      url: at('/echo'),
      headers: { 'X-Key': '****ijkl' },
    });
  });

  test.each<[string, object, number, string | undefined]>([
    ['no name', { webhook: { url: 'https://a.test' } }, 400, 'name'],
    ['a name that no tool can have', { name: 'a b', webhook: { url: 'https://a.test' } }, 400, 'name'],
    ['a name that is taken', { name: 'signed', webhook: { url: 'https://a.test' } }, 409, undefined],
    ['no mode', { name: 'x' }, 400, 'mode'],
    ['the part of another mode', { name: 'x', mode: 'proxy', webhook: {} }, 400, 'webhook'],
    ['no address', { name: 'x', mode: 'webhook' }, 400, 'webhook.url'],
    ['a file', { name: 'x', webhook: { url: 'file:///etc/passwd' } }, 400, 'webhook.url'],
    ['a password in it', { name: 'x', webhook: { url: 'https://a:b@c.test' } }, 400, 'webhook.url'],
    [
      'a header of ours',
      { name: 'x', webhook: { url: 'https://a.test', headers: { Host: 'b' } } },
      400,
      'webhook.headers.Host',
    ],
    [
      'a schema that is none',
      { name: 'x', webhook: { url: 'https://a.test' }, parameters: { type: 1 } },
      400,
      'parameters',
    ],
    ['packages', { name: 'x', isolated: { code: 'x', packages: ['left-pad'] } }, 400, 'isolated.packages'],
    [
      'a Docker host',
      { name: 'x', isolated: { code: 'x', dockerHost: 'tcp://1' } },
      400,
      'isolated.dockerHost',
    ],
    ['another runtime', { name: 'x', isolated: { code: 'x', runtime: 'cobol' } }, 400, 'isolated.runtime'],
    [
      'a fixed result',
      { name: 'x', proxy: { baseUrl: 'https://a.test', responseMapping: { a: 'b' } } },
      400,
      'proxy.responseMapping.a',
    ],
    [
      'a path that climbs',
      { name: 'x', proxy: { baseUrl: 'https://a.test', path: '/../x' } },
      400,
      'proxy.path',
    ],
    ['no time', { name: 'x', webhook: { url: 'https://a.test' }, timeoutMs: -1 }, 400, 'timeoutMs'],
  ])('%s is refused', async (_, body, status, field) => {
    const before = (await ask('GET', '/v1/functions')).body.total;
    const answer = await ask('POST', '/v1/functions', body);
    expect([answer.status, fieldOf(answer)]).toEqual([status, field]);
    expect((await ask('GET', '/v1/functions')).body.total).toBe(before);
  });

  test('one that is off or gone is not called', async () => {
    const { id } = await webhook('switched', '/echo');
    await ask('PATCH', `/v1/functions/${id}`, { enabled: false });
    expect((await invoke('switched')).status).toBe(409);
    expect((await ask('GET', '/v1/functions?enabled=false')).body.total).toBe(1);
    expect((await ask('DELETE', `/v1/functions/${id}`)).status).toBe(200);
    expect((await invoke('switched')).status).toBe(404);
    expect((await ask('GET', '/v1/functions/by-name/switched')).status).toBe(404);
  });

  test('where no sandboxes can be made, that is said', async () => {
    const { body } = await ask('GET', '/v1/functions/isolation-status');
    expect(body.available).toBe(false);
    expect(body.message).toContain('docker');
    await ask('POST', '/v1/functions', { name: 'boxed', isolated: { code: 'export default () => 1' } });
    const answer = await invoke('boxed');
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.body.message).not.toContain('inside svc');
    const { invocations = [] } = (await ask('GET', '/v1/functions/boxed/invocations')).body;
    expect(invocations[0]?.status).toBe('error');
  });

  test('nothing that is secret is in the log or readable in the database', async () => {
    expect(daemon.log()).not.toContain('t0ps3cr3t');
    const dump = await Bun.file(`${daemon.dataDir}/svc.db`).text();
    const wal = await Bun.file(`${daemon.dataDir}/svc.db-wal`).text();
    expect(dump + wal).toContain('weather');
    for (const secret of ['t0ps3cr3t', 'k-123456789', 'shared-secret'])
      expect(dump + wal).not.toContain(secret);
  });
});

test('two tenants never see, call, change or remove each other’s functions', async () => {
  const tenants = await TwoTenants.start();
  try {
    const keyOf = async ({ session }: { session: string }) =>
      (await tenants.key(tenants.fromPage(session))).key;
    const ada = await keyOf(await tenants.member('ada', 'owner'));
    const sam = await keyOf(await tenants.stranger('sam'));
    const ask = async (key: string, method: string, path: string, body?: object) => {
      const headers = { 'x-svc-api-key': key, 'content-type': 'application/json' };
      const response = await fetch(tenants.daemon.url + path, {
        method,
        headers,
        body: JSON.stringify(body),
      });
      return { status: response.status, body: (await response.json()) as Answer['body'] };
    };
    const make = (key: string, description: string) =>
      ask(key, 'POST', '/v1/functions', { name: 'same', description, webhook: { url: 'https://a.test/' } });
    const id = (await make(ada, 'of ada')).body.function?.id;
    expect((await make(sam, 'of sam')).status).toBe(200);
    for (const [method, path, body] of [
      ['GET', `/v1/functions/${id}`],
      ['GET', `/v1/functions/${id}/invocations`],
      ['PATCH', `/v1/functions/${id}`, { description: 'taken' }],
      ['POST', `/v1/functions/${id}/invoke`, {}],
      ['DELETE', `/v1/functions/${id}`],
    ] as const)
      expect([method, path, (await ask(sam, method, path, body)).status]).toEqual([method, path, 404]);
    expect((await ask(sam, 'GET', '/v1/functions')).body.functions).toMatchObject([
      { description: 'of sam' },
    ]);
    expect((await ask(ada, 'GET', '/v1/functions/by-name/same')).body.function).toMatchObject({
      id,
      description: 'of ada',
    });
  } finally {
    await tenants.stop();
  }
});

const namespace = driverCases.filter(({ name }) => name === 'namespace');

describe.each(namespace)('isolated functions ($name)', ({ env }) => {
  let daemon: TestDaemon;
  const ask = askOf(() => daemon);
  const make = async (name: string, code: string, more: object = {}) => {
    const body = { name, isolated: { runtime: 'nodejs20', code }, ...more };
    expect((await ask('POST', '/v1/functions', body)).status).toBe(200);
  };
  const invoke = (name: string, args: object = {}, signal?: AbortSignal) =>
    ask('POST', `/v1/functions/${name}/invoke`, { arguments: args }, signal);
  const boxes = async () =>
    ((await ask('GET', '/v1/sandbox/instances?limit=500&status=running')).body.instances ?? []).length;
  const until = async (done: () => Promise<boolean>) => {
    for (let i = 0; i < 200 && !(await done()); i++) await Bun.sleep(50);
    expect(await done()).toBe(true);
  };

  beforeAll(async () => {
    daemon = await startDaemon({ env: { ...env, SVC_FUNCTIONS_INSTANCES: '2' } });
  });
  afterAll(async () => {
    await daemon?.stop();
  });

  test('code answers, prints, and keeps warm', async () => {
    await make(
      'sum',
      'let n = 0; export default async ({a, b}) => { console.log("hi", a); return {sum: a + b, n: ++n} }',
    );
    expect((await invoke('sum', { a: 1, b: 2 })).body).toMatchObject({ status: 'success', logs: 'hi 1\n' });
    expect((await invoke('sum', { a: 2, b: 2 })).body).toMatchObject({
      result: { sum: 4, n: 2 },
      logs: 'hi 2\n',
    });
  });

  test('Python answers, whether it waits or not', async () => {
    const code =
      'import asyncio\nasync def handler(args):\n  print("x")\n  await asyncio.sleep(0)\n  return args["n"] * 2';
    await make('double', '', { isolated: { runtime: 'python3.12', code } });
    expect((await invoke('double', { n: 21 })).body).toMatchObject({ result: 42, logs: 'x\n' });
    const failure = (await invoke('double', {})).body;
    expect(failure.error).toEndWith("KeyError: 'n'");
  });

  test.each<[string, string, string, string]>([
    ['throws', 'export default () => { throw new TypeError("no") }', 'error', 'TypeError: no'],
    ['leaves', 'export default () => process.exit(3)', 'error', 'ended with code 3'],
    ['loops', 'export default () => { for (;;); }', 'timeout', 'within 700 ms'],
    [
      'eats',
      'export default () => { const x = []; for (;;) x.push(Buffer.alloc(1e7, 1)) }',
      'error',
      '64 MB of memory',
    ],
    ['answers no JSON', 'export default () => 1n', 'error', 'BigInt'],
    ['answers a function', 'export default () => () => 1', 'error', 'not JSON'],
    ['answers too much', 'export default () => "x".repeat(2e6)', 'error', 'more than 1048576 bytes'],
    ['is no code', 'export default (', 'error', 'SyntaxError'],
    ['exports nothing', 'const a = 1', 'error', 'no default export'],
    [
      'forges answers',
      'import fs from "fs"; export default () => { fs.writeSync(8, "{}\\n"); for (;;); }',
      'error',
      'SIGKILL',
    ],
  ])(
    'code that %s fails with the reason, and the next call is another matter',
    async (what, code, status, words) => {
      const name = what.replaceAll(' ', '_');
      await make(name, code, { timeoutMs: 700, memoryMb: 64 });
      const { status: http, body } = await invoke(name);
      expect([http, body.status]).toEqual([200, status]);
      expect(body.error).toContain(words);
      expect((await invoke('sum', { a: 1, b: 1 })).body.status).toBe('success');
    },
  );

  test('the command line makes, calls, changes and removes them', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'svc-functions-'));
    const file = join(dir, 'shout.py');
    writeFileSync(file, 'def handler(args):\n  print("heard")\n  return args["text"].upper()\n');
    const svc = async (...argv: string[]) => {
      const child = Bun.spawn([...svcCommand(), ...argv], {
        env: { ...process.env, SVC_API_URL: daemon.url, SVC_API_KEY: daemon.apiKey, SVC_CONFIG_DIR: dir },
        stdout: 'pipe',
        stderr: 'pipe',
      });
      const [stdout, stderr] = [
        await new Response(child.stdout).text(),
        await new Response(child.stderr).text(),
      ];
      return { stdout, stderr, code: await child.exited };
    };
    try {
      expect((await svc('function', 'create', 'shout', '--code', file)).stdout).toStartWith('fn_');
      const called = await svc('function', 'invoke', 'shout', '{"text":"hi"}');
      expect(called).toEqual({ stdout: 'HI\n', stderr: 'heard\n', code: 0 });
      const failed = await svc('fn', 'invoke', 'shout');
      expect(failed.code).toBe(1);
      expect(failed.stderr).toContain("KeyError: 'text'");
      expect((await svc('function', 'get', 'shout', '--code')).stdout).toContain('def handler');
      expect((await svc('function', 'runs', 'shout')).stdout).toContain('success');
      expect((await svc('function', 'update', 'shout', '--off', '--rename', 'quiet')).stdout).toContain(
        'off',
      );
      expect((await svc('function', 'list')).stdout).toContain('quiet\tisolated\tpython\toff');
      expect((await svc('function', 'status')).code).toBe(0);
      expect((await svc('function', 'rm', 'quiet')).code).toBe(0);
      expect((await svc('function', 'get', 'quiet')).code).toBeGreaterThan(0);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  test('a change is in the next call', async () => {
    await make('changing', 'export default () => 1');
    expect((await invoke('changing')).body.result).toBe(1);
    await ask('PATCH', '/v1/functions/changing', { isolated: { code: 'export default () => 2' } });
    expect((await invoke('changing')).body.result).toBe(2);
  });

  test('many calls at once share few sandboxes', async () => {
    await make(
      'slow',
      'export default async ({n}) => { await new Promise((r) => setTimeout(r, 30)); return n }',
    );
    const results = await Promise.all(Array.from({ length: 12 }, (_, n) => invoke('slow', { n })));
    expect(results.map(({ body }) => body.result)).toEqual(Array.from({ length: 12 }, (_, n) => n));
    expect(await boxes()).toBeLessThanOrEqual(2);
  });

  test('what its caller leaves is ended', async () => {
    await make('left', 'export default () => new Promise(() => setInterval(() => {}, 1000))');
    const leaving = new AbortController();
    const call = invoke('left', {}, leaving.signal).catch(() => 'left');
    await until(async () => {
      const { invocations = [] } = (await ask('GET', '/v1/functions/left/invocations')).body;
      return invocations[0]?.status === 'running' && (await boxes()) > 0;
    });
    leaving.abort();
    expect(await call).toBe('left');
    await until(async () => {
      const { invocations = [] } = (await ask('GET', '/v1/functions/left/invocations')).body;
      return invocations[0]?.status === 'cancelled';
    });
    expect((await invoke('sum', { a: 1, b: 1 })).body.status).toBe('success');
  });

  test('after kill -9 the call is lost, its sandbox is gone, and functions work', async () => {
    await make('cut', 'export default () => new Promise(() => setInterval(() => {}, 1000))');
    const call = invoke('cut').catch(() => 'cut');
    await until(async () => {
      const { invocations = [] } = (await ask('GET', '/v1/functions/cut/invocations')).body;
      return invocations[0]?.status === 'running';
    });
    await Bun.sleep(300);
    const { dataDir, apiKey } = daemon;
    await daemon.kill9();
    await call;
    daemon = await startDaemon({ dataDir, apiKey, env: { ...env, SVC_FUNCTIONS_INSTANCES: '2' } });
    const { invocations = [] } = (await ask('GET', '/v1/functions/cut/invocations')).body;
    expect(invocations[0]?.status).toBe('lost');
    await until(async () => (await boxes()) === 0);
    expect((await invoke('sum', { a: 1, b: 1 })).body).toMatchObject({ result: { sum: 2, n: 1 } });
  });

  test('a stop leaves no sandbox behind', async () => {
    const { dataDir, apiKey } = daemon;
    await invoke('sum', { a: 1, b: 1 });
    expect(await boxes()).toBeGreaterThan(0);
    await daemon.stop({ keep: true });
    daemon = await startDaemon({ dataDir, apiKey, env });
    expect(await boxes()).toBe(0);
    await daemon.stop();
    rmSync(dataDir, { recursive: true, force: true });
    daemon = await startDaemon({ env });
  });
});
