import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { version } from '../package.json';
import { fail, invalid } from '../src/errors/app-error.ts';
import { FAKE_KEY, type FakeDaemon, startFakeDaemon } from './testing/fake-daemon.ts';
import { type Ran, type RunOptions, runSvc, spawnSvc } from './testing/run-svc.ts';

let daemon: FakeDaemon;
let home: string;

beforeAll(() => {
  daemon = startFakeDaemon();
});

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'svc-cli-main-'));
  daemon.seen.length = 0;
});

afterEach(() => rmSync(home, { recursive: true }));

afterAll(() => daemon.stop());

const environment = () => ({
  HOME: home,
  SVC_DATA_DIR: join(home, 'data'),
  SVC_API_URL: daemon.url,
  SVC_API_KEY: FAKE_KEY,
});

function svc(argv: string[], options: RunOptions = {}): Promise<Ran> {
  return runSvc(argv, { ...options, env: { ...environment(), ...options.env } });
}

describe('the command line', () => {
  const cases: Array<[argv: string[], code: number, stdout: RegExp, stderr: RegExp]> = [
    [['--version'], 0, new RegExp(`^svc ${version}\n$`), /^$/],
    [[], 0, /Usage: svc/, /^$/],
    [['help', 'sandbox', 'exec'], 0, /Usage: svc sandbox exec \[options\] <name> <command\.\.\.>/, /^$/],
    [['sandbox'], 2, /^$/, /Usage: svc sandbox/],
    [
      ['sandbox', 'creat'],
      2,
      /^$/,
      /unknown command 'creat'\n\(Did you mean create\?\)\nhint: svc sandbox --help/,
    ],
    [
      ['sandbox', 'create', '--nmae', 'x'],
      2,
      /^$/,
      /Did you mean --name\?\)\nhint: svc sandbox create --help/,
    ],
    [['sandbox', 'create', '--cpu', 'many'], 2, /^$/, /must be a number above 0/],
    [['sandbox', 'get'], 2, /^$/, /missing required argument 'name'/],
    [['sandbox', 'get', 'a', 'b'], 2, /^$/, /too many arguments/],
  ];
  test.each(cases)('%p ends with %p', async (argv, code, stdout, stderr) => {
    const ran = await svc(argv);
    expect(ran).toEqual({
      code,
      stdout: expect.stringMatching(stdout),
      stderr: expect.stringMatching(stderr),
    });
  });
});

describe('exit codes', () => {
  const at = 'GET /v1/sandbox/instances/x';
  const cases: Array<[name: string, error: Error, code: number]> = [
    ['bad input', invalid({ field: 'limit', description: 'is too big' }), 2],
    ['no permission', fail('forbidden', { need: 'admin' }), 4],
    ['a conflict', fail('already_exists', { what: 'sandbox', id: 'x' }), 6],
    ['a failure over there', fail('internal'), 1],
  ];
  test.each(cases)('%s', async (_, error, code) => {
    daemon.on(at, () => error);
    const ran = await svc(['sandbox', 'get', 'x']);
    expect(ran).toMatchObject({ code, stdout: '' });
    expect(ran.stderr).toStartWith(`error: ${error.message}\n`);
  });

  test('what is not there is 5, and the hint says where to look', async () => {
    const { code, stderr } = await svc(['sandbox', 'get', 'nowhere']);
    expect({ code, stderr }).toEqual({
      code: 5,
      stderr: 'error: There is no sandbox "instances".\nhint: List yours: svc sandbox list\n',
    });
  });

  test('a wrong key is 4', async () => {
    expect((await svc(['sandbox', 'list'], { env: { SVC_API_KEY: 's_wrong' } })).code).toBe(4);
  });

  test('no daemon is 3', async () => {
    const { code, stderr } = await svc(['sandbox', 'list'], { env: { SVC_API_URL: 'http://127.0.0.1:1' } });
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr:
        'error: No svc answers at http://127.0.0.1:1: the connection was refused.\nhint: Start it: svc up\n',
    });
  });
});

describe('sandboxes', () => {
  test('create sends what the options say and prints the id alone', async () => {
    daemon.on('POST /v1/sandbox', () => ({ id: 'sbx_1', name: 'box' }));
    const argv = 'sandbox create --name box --cpu 0.5 --memory-mb 256 --env A=1 --env B=x=y --label team=web';
    const more = ['--timeout', '1h30m', '--network', 'deny', '--idempotency-key', 'once'];
    expect(await svc([...argv.split(' '), ...more])).toEqual({ code: 0, stdout: 'sbx_1\n', stderr: '' });
    expect(daemon.seen[0]).toMatchObject({
      headers: { 'idempotency-key': 'once' },
      body: {
        name: 'box',
        cpuLimit: 0.5,
        memoryMb: '256',
        envVars: { A: '1', B: 'x=y' },
        labels: { team: 'web' },
        timeoutSeconds: 5400,
        networkMode: 'deny',
      },
    });
  });

  const instance = {
    id: 'sbx_1',
    name: 'box',
    lifecycleState: 'running',
    image: 'host',
    createdAt: '2026-01-02T03:04:05Z',
  };

  test('list is tab-separated when it is piped, and filters by label and status', async () => {
    daemon.on('GET /v1/sandbox/instances', () => ({ instances: [instance], total: 1 }));
    const { stdout } = await svc([
      'sandbox',
      'list',
      '--label',
      'a=1',
      '--label',
      'b=2',
      '--status',
      'running',
    ]);
    expect(stdout).toBe('sbx_1\tbox\trunning\thost\t2026-01-02T03:04:05Z\t\n');
    expect(daemon.seen[0]?.query).toEqual({
      limit: '50',
      status: 'SANDBOX_STATUS_RUNNING',
      label_filter: 'a=1,b=2',
    });
  });

  test('list --json is the answer of the API', async () => {
    daemon.on('GET /v1/sandbox/instances', () => ({ instances: [instance], total: 1 }));
    const { stdout } = await svc(['sandbox', 'list', '--json']);
    expect(JSON.parse(stdout)).toEqual({ instances: [instance], total: 1 });
  });

  test('stop goes on after a failure and ends with its code', async () => {
    daemon.on('POST /v1/sandbox/b/stop', () => ({ success: true }));
    const { code, stderr } = await svc(['sandbox', 'stop', 'a', 'b']);
    expect({ code, stderr }).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('There is no sandbox "a"'),
    });
    expect(daemon.seen.map(({ path }) => path)).toEqual(['/v1/sandbox/a/stop', '/v1/sandbox/b/stop']);
  });

  test('logs -f reads on from the cursor and ends as the command did', async () => {
    const pieces = ['one\n', 'two\n', 'three\n'];
    daemon.on('GET /v1/sandbox/box/command/cmd_1/logs', ({ query }) => {
      const at = Number(query.cursor);
      return new Response(pieces[at] ?? '', {
        headers: { 'EXECD-COMMANDS-TAIL-CURSOR': String(Math.min(at + 1, pieces.length)) },
      });
    });
    let asked = 0;
    daemon.on('GET /v1/sandbox/box/command/status/cmd_1', () => ({ running: ++asked < 2, exit_code: 7 }));
    expect(await svc(['sandbox', 'logs', 'box', 'cmd_1', '-f'])).toEqual({
      code: 7,
      stdout: 'one\ntwo\nthree\n',
      stderr: '',
    });
  });
});

describe('sandbox exec', () => {
  const exec = (...command: string[]) => ['sandbox', 'exec', 'box', '--', ...command];

  test('keeps stdout and stderr apart and ends with the exit code', async () => {
    const ran = await svc(exec('sh', '-c', 'echo out; echo err >&2; exit 42'));
    expect(ran).toEqual({ code: 42, stdout: 'out\n', stderr: 'err\n' });
  });

  test('hands every argument on as it is', async () => {
    const odd = ['a b', "it's", '$HOME', '`id`', '', '*', '-x', '--', '"\\'];
    const { stdout } = await svc(exec('printf', '%s|', ...odd));
    expect(stdout).toBe(odd.map((argument) => `${argument}|`).join(''));
  });

  test('passes stdin through, byte for byte', async () => {
    const bytes = crypto.getRandomValues(new Uint8Array(60_000));
    const stdin = Buffer.concat(Array.from({ length: 50 }, () => bytes));
    const { stdout } = await svc(exec('sha256sum'), { stdin });
    expect(stdout.split(' ')[0]).toBe(new Bun.CryptoHasher('sha256').update(stdin).digest('hex'));
  });

  test('a reader that is slow loses nothing', async () => {
    const child = spawnSvc(exec('head', '-c', '20000000', '/dev/zero'), { env: environment() });
    let size = 0;
    for await (const bytes of child.stdout) {
      if (size === 0) await Bun.sleep(300);
      size += bytes.length;
    }
    expect({ size, code: await child.exited }).toEqual({ size: 20_000_000, code: 0 });
  });

  test('--no-stdin leaves stdin alone', async () => {
    const { stdout } = await svc(['sandbox', 'exec', 'box', '-n', '--', 'cat'], { stdin: 'secret' });
    expect(stdout).toBe('');
  });

  test('sets directory and environment', async () => {
    const argv = [
      'sandbox',
      'exec',
      'box',
      '--cwd',
      '/usr',
      '--env',
      'A=x y',
      '--',
      'sh',
      '-c',
      'pwd; echo "$A"',
    ];
    expect((await svc(argv)).stdout).toBe('/usr\nx y\n');
  });

  /** A command that prints `ready`, then does this at each SIGINT. */
  const onInterrupt = (script: string) =>
    spawnSvc(
      exec(
        process.execPath,
        '-e',
        `process.on('SIGINT', () => { ${script} }); setInterval(() => 0, 1e6); console.log('ready')`,
      ),
      { env: environment() },
    );

  test('Ctrl-C goes to the command, which decides how it ends', async () => {
    const child = onInterrupt("console.log('caught'); process.exit(9)");
    let output = '';
    for await (const bytes of child.stdout) {
      if (output === '') child.kill('SIGINT');
      output += Buffer.from(bytes).toString();
    }
    expect({ output, code: await child.exited }).toEqual({ output: 'ready\ncaught\n', code: 9 });
  });

  test('a second Ctrl-C leaves a command that takes no notice', async () => {
    const child = onInterrupt("console.log('again')");
    for await (const _ of child.stdout) child.kill('SIGINT');
    expect(await child.exited).toBe(130);
  });

  test('a command that takes too long is ended, with exit code 124', async () => {
    const argv = ['sandbox', 'exec', 'box', '--timeout', '200ms', '--', 'sleep', '30'];
    expect(await svc(argv)).toMatchObject({ code: 124, stderr: expect.stringContaining('200 ms') });
  });

  test('a sandbox that is not there is 5', async () => {
    const { code, stderr } = await svc(['sandbox', 'exec', 'nowhere', '--', 'true']);
    expect({ code, stderr }).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('There is no sandbox "nowhere"'),
    });
  });

  test('a lost connection is told, and is no success', async () => {
    const own = startFakeDaemon();
    const child = spawnSvc(exec('sh', '-c', 'echo ready; sleep 30'), {
      env: { ...environment(), SVC_API_URL: own.url },
    });
    for await (const _ of child.stdout) own.stop();
    const stderr = await new Response(child.stderr).text();
    expect({ code: await child.exited, stderr }).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('was lost'),
    });
  });

  test('--background prints the id of the command', async () => {
    const events = ['init', 'status'].map(
      (type) => `data: ${JSON.stringify({ type, text: 'cmd_9', timestamp: 1 })}\n\n`,
    );
    daemon.on(
      'POST /v1/sandbox/box/command',
      () => new Response(events.join(''), { headers: { 'content-type': 'text/event-stream' } }),
    );
    const { stdout } = await svc(['sandbox', 'exec', 'box', '-d', '--', 'sleep', '1 2']);
    expect(stdout).toBe('cmd_9\n');
    expect(daemon.seen[0]?.body).toMatchObject({ command: "exec sleep '1 2'", background: true });
  });

  test('a shell needs a terminal', async () => {
    expect(await svc(['sandbox', 'shell', 'box'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('svc sandbox exec'),
    });
  });
});

describe('api', () => {
  test('sends method, query, header and body, and prints the answer', async () => {
    daemon.on('PUT /v1/x', ({ query, body }) => ({ query, body }));
    const argv = ['api', 'put', '/v1/x?a=1', '-q', 'b=2 3', '-H', 'X-Thing: yes', '-d', '{"n": 1}'];
    expect(JSON.parse((await svc(argv)).stdout)).toEqual({ query: { a: '1', b: '2 3' }, body: { n: 1 } });
    expect(daemon.seen[0]?.headers).toMatchObject({ 'x-thing': 'yes', 'content-type': 'application/json' });
  });

  test('reads the body from a file or from stdin', async () => {
    daemon.on('POST /v1/x', ({ body }) => ({ body }));
    writeFileSync(join(home, 'body.json'), '{"from": "file"}');
    const fromFile = await svc(['api', 'POST', '/v1/x', '-d', `@${join(home, 'body.json')}`]);
    const fromStdin = await svc(['api', 'POST', '/v1/x', '-d', '-'], { stdin: '{"from": "stdin"}' });
    expect([fromFile, fromStdin].map(({ stdout }) => JSON.parse(stdout).body.from)).toEqual([
      'file',
      'stdin',
    ]);
  });

  test('prints an error as it came and ends with its code', async () => {
    const { code, stdout, stderr } = await svc(['api', 'GET', '/v1/sandbox/nowhere']);
    expect(JSON.parse(stdout)).toMatchObject({ code: 5, message: 'There is no sandbox "nowhere".' });
    expect({ code, stderr }).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('error: There is no sandbox'),
    });
  });

  test('--curl prints a command that works, without the key', async () => {
    daemon.on('POST /v1/x', ({ body, headers }) => ({ body, type: headers['content-type'] }));
    const { stdout } = await svc(['api', 'POST', '/v1/x', '-d', `{"it's": "fine"}`, '--curl']);
    expect(stdout).not.toContain(FAKE_KEY);
    expect(daemon.seen).toEqual([]);
    const curl = Bun.spawn(['sh', '-c', stdout], { env: { PATH: process.env.PATH, SVC_API_KEY: FAKE_KEY } });
    expect(await new Response(curl.stdout).json()).toEqual({
      body: { "it's": 'fine' },
      type: 'application/json',
    });
  });

  test('lists the operations without a daemon', async () => {
    const env = { SVC_API_URL: 'http://127.0.0.1:1' };
    const all = JSON.parse((await svc(['api', '--list', '--json'], { env })).stdout) as Array<{
      id: string;
      built: boolean;
    }>;
    const unbuilt = (await svc(['api', '--unbuilt'], { env })).stdout.trim().split('\n').filter(Boolean);
    expect(all.find(({ id }) => id === 'CreateSandbox')).toMatchObject({
      method: 'POST',
      path: '/v1/sandbox',
      built: true,
    });
    expect(unbuilt.length).toBe(all.filter(({ built }) => !built).length);
  });
});

describe('contexts and signing in', () => {
  const noDefaults = { SVC_API_URL: undefined, SVC_API_KEY: undefined };

  test('login keeps a key that works, and calls use it from then on', async () => {
    daemon.on('GET /v1/auth/session', () => ({
      authenticated: true,
      user: { user: { email: 'me@example.com', id: 'usr_1' } },
    }));
    const ran = await svc(['login', '--api-url', daemon.url, '--api-key', '-'], {
      env: noDefaults,
      stdin: `${FAKE_KEY}\n`,
    });
    expect(ran).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('me@example.com') });
    const { stdout } = await svc(['whoami', '--json'], { env: noDefaults });
    expect(JSON.parse(stdout)).toMatchObject({
      user: 'me@example.com',
      endpoint: daemon.url,
      context: 'local',
      key: '****wxyz',
    });
  });

  test('login keeps nothing when the key is refused', async () => {
    const { code } = await svc(['login', '--api-url', daemon.url, '--api-key', 's_wrong'], {
      env: noDefaults,
    });
    expect(code).toBe(4);
    expect((await svc(['context', 'list'], { env: noDefaults })).stdout).toBe('');
  });

  test('a context is added, chosen and removed', async () => {
    const run = (...argv: string[]) => svc(['context', ...argv], { env: noDefaults });
    await run('add', 'a', daemon.url);
    await run('add', 'b', 'https://b.example', '--use');
    expect((await run('list')).stdout).toBe(`a\t${daemon.url}\tno\tno\nb\thttps://b.example\tyes\tno\n`);
    await run('remove', 'b');
    expect((await run('use', 'b')).code).toBe(5);
    expect((await run('add', 'c', 'nonsense')).code).toBe(2);
  });

  test('logout forgets the key', async () => {
    await svc(['context', 'add', 'a', daemon.url]);
    expect((await svc(['logout'], { env: noDefaults })).code).toBe(0);
    expect(readFileSync(join(home, '.config/svc/credentials'), 'utf8')).not.toContain(FAKE_KEY);
    expect(await svc(['logout'], { env: noDefaults })).toMatchObject({ code: 6 });
  });
});

describe('config', () => {
  test('set, get and list act on the svc.yaml of the data directory', async () => {
    expect(await svc(['config', 'get', 'server.port', '--origin'])).toMatchObject({
      stdout: '8089\tdefault\n',
    });
    expect((await svc(['config', 'set', 'server.port', '9001'])).code).toBe(0);
    const file = join(home, 'data', 'svc.yaml');
    expect((await svc(['config', 'get', 'server.port', '--origin'])).stdout).toBe(`9001\tfile (${file})\n`);
    expect(Bun.YAML.parse(readFileSync(file, 'utf8'))).toEqual({ server: { port: 9001 } });
  });

  test('a secret comes from stdin and is never shown', async () => {
    const key = 'sk-abcdefghijklmnop';
    await svc(['config', 'set', 'providers.openai.api_key', '-'], { stdin: `${key}\n` });
    expect(readFileSync(join(home, 'data', 'svc.yaml'), 'utf8')).toContain(key);
    const shown = await svc(['config', 'list', '--json']);
    expect(shown.stdout).not.toContain(key);
    expect((await svc(['config', 'get', 'providers.openai.api_key'])).stdout).toBe('****mnop\n');
  });

  test('a wrong value changes nothing', async () => {
    expect(await svc(['config', 'set', 'server.port', 'many'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('whole number'),
    });
    expect(await svc(['config', 'set', 'server.prot', '1'])).toMatchObject({ code: 2 });
    expect((await svc(['config', 'get', 'server.port'])).stdout).toBe('8089\n');
  });
});

test('status says what runs, and down that nothing does here', async () => {
  daemon.on('GET /healthz', () => ({ status: 'ok', version: '9.9.9' }));
  daemon.on('GET /v1/sandbox/overview', () => ({
    overview: { runningInstances: 2, totalInstances: 3, backend: 'docker' },
  }));
  const { stdout } = await svc(['status']);
  expect(stdout).toContain('version\t9.9.9\n');
  expect(stdout).toContain('sandboxes\t2 running, 3 in all\n');
  expect(await svc(['down'])).toMatchObject({ code: 0, stderr: expect.stringContaining('No daemon runs') });
});
