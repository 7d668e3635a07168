import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, startDaemon, svcCommand, type TestDaemon } from './support/daemon.ts';
import { driverCases } from './support/drivers.ts';
import { until } from './support/scene.ts';

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

type Env = Readonly<Record<string, string | undefined>>;

function spawn(argv: readonly string[], env: Env, stdin: Uint8Array = new Uint8Array()) {
  return Bun.spawn([...svcCommand(), ...argv], {
    env: { PATH: process.env.PATH, ...env },
    stdin,
    stdout: 'pipe',
    stderr: 'pipe',
  });
}

async function run(argv: readonly string[], env: Env, stdin?: Uint8Array): Promise<Ran> {
  const child = spawn(argv, env, stdin);
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, stdout, stderr };
}

const scratch = () => mkdtempSync(join(tmpdir(), 'svc-test-cli-'));

describe.each(driverCases)('svc up on the $name driver', ({ env: driver }) => {
  let home: string;
  let env: Env;
  let port: number;
  beforeAll(() => {
    home = scratch();
    port = freePort();
    env = { ...driver, HOME: home, SVC_DATA_DIR: join(home, 'data') };
  });
  afterAll(async () => {
    await run(['down', '--force'], env);
    rmSync(home, { recursive: true, force: true });
  });
  const svc = (...argv: string[]) => run(argv, env);
  const address = () => `http://127.0.0.1:${port}`;

  test('before it, status ends with 3 and says what to do', async () => {
    const { code, stderr } = await run(['status'], { ...env, SVC_API_URL: address() });
    expect({ code, stderr }).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('hint: Start it: svc up'),
    });
  });

  test('doctor finds nothing missing', async () => {
    const { code, stdout } = await svc('doctor', '--port', String(port), '--json');
    const report = JSON.parse(stdout) as {
      usable: boolean;
      findings: Array<{ check: string; status: string }>;
    };
    expect(report.usable).toBe(true);
    expect(code).toBe(0);
    expect(report.findings.find(({ check }) => check === 'port')?.status).toBe('ok');
  });

  test('starts a daemon, tries it, and prints its address', async () => {
    const { code, stdout, stderr } = await svc('up', '--port', String(port));
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${address()}\n` });
    expect(stderr).toMatch(/command: a sandbox answered: Linux/);
    expect(stderr).toContain('chat: local/echo answered: Hello from svc up');
    expect(stderr).toMatch(/sandbox created in .+, command run in .+, chat answered in/);
    expect((await fetch(`${address()}/healthz`)).status).toBe(200);
  }, 60_000);

  test('leaves no sandbox of its trial behind', async () => {
    expect((await svc('sandbox', 'list', '--status', 'running')).stdout).toBe('');
  });

  test('stores the context, so that calls need nothing more', async () => {
    const { stdout } = await svc('status', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ url: address(), status: 'ok', pid: expect.any(Number) });
    expect((await svc('whoami')).stdout).toContain('context\tlocal\n');
  });

  test('a second time it says that the daemon runs', async () => {
    const { code, stderr } = await svc('up', '--no-smoke');
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('runs already') });
  });

  test('a second daemon on the data directory, and one on the port, are refused in one line', async () => {
    const sameDir = await svc('serve', '--port', String(freePort()));
    const samePort = await run(['serve', '--port', String(port)], {
      ...env,
      SVC_DATA_DIR: join(home, 'other'),
    });
    for (const { code, stdout, stderr } of [sameDir, samePort]) {
      expect({ code, stdout }).toEqual({ code: 6, stdout: '' });
      expect(stderr).not.toMatch(/\n\s+at /);
    }
    expect(sameDir.stderr).toContain('Another svc daemon uses');
    expect(samePort.stderr).toContain('is in use by another program');
    const up = await run(['up', '--port', String(port)], { ...env, SVC_DATA_DIR: join(home, 'third') });
    expect(up).toMatchObject({ code: 6, stderr: expect.stringContaining('choose another: --port N') });
  }, 30_000);

  test('sandboxes outlive down and up', async () => {
    await svc('sandbox', 'create', '--name', 'kept');
    await svc('sandbox', 'exec', 'kept', '--', 'sh', '-c', 'echo here > note');
    expect(await svc('down')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('Sandboxes go on running'),
    });
    expect((await svc('status')).code).toBe(3);
    expect((await svc('config', 'get', 'sandbox.max')).stdout).toBe('500\n');
    expect((await svc('up', '--port', String(port), '--no-smoke')).code).toBe(0);
    expect((await svc('sandbox', 'exec', 'kept', '--', 'cat', 'note')).stdout).toBe('here\n');
    await svc('sandbox', 'rm', 'kept');
  }, 60_000);

  test('down ends the daemon, and a second one is no error', async () => {
    expect((await svc('down')).code).toBe(0);
    await expect(fetch(`${address()}/healthz`)).rejects.toThrow();
    expect(await svc('down')).toMatchObject({ code: 0, stderr: expect.stringContaining('No daemon runs') });
    expect(existsSync(join(home, 'data', 'daemon.json'))).toBe(false);
  });
});

describe('svc serve', () => {
  test('an unusable data directory is one clear line', async () => {
    const home = scratch();
    writeFileSync(join(home, 'file'), '');
    const { code, stdout, stderr } = await run(['serve', '--data-dir', join(home, 'file', 'data')], {
      HOME: home,
    });
    expect({ code, stdout }).toEqual({ code: 6, stdout: '' });
    expect(stderr).toStartWith('error: The data directory');
    expect(stderr).not.toMatch(/\n\s+at /);
    rmSync(home, { recursive: true });
  });

  test('--info shows the settings with secrets masked', async () => {
    const home = scratch();
    const env = { HOME: home, SVC_ROOT_API_KEY: 's_this_is_the_secret_root_key', SVC_SERVER_PORT: '9009' };
    const { stdout } = await run(['serve', '--info'], env);
    expect(stdout).toContain('server.port\t9009\n');
    expect(stdout).not.toContain(env.SVC_ROOT_API_KEY);
    rmSync(home, { recursive: true });
  });

  test.each(['SIGTERM', 'SIGINT'] as const)(
    '%s lets it end by itself',
    async (signal) => {
      const home = scratch();
      const child = spawn(['serve', '--port', '0', '--data-dir', home], {
        HOME: home,
        ...driverCases[0]?.env,
      });
      const record = join(home, 'daemon.json');
      await until(
        () => existsSync(record) && (JSON.parse(readFileSync(record, 'utf8')) as { url: string }).url,
      );
      child.kill(signal);
      expect(await child.exited).toBe(0);
      expect(existsSync(record)).toBe(false);
      rmSync(home, { recursive: true });
    },
    30_000,
  );
});

describe.each(driverCases)('commands of the CLI on the $name driver', ({ env: driver }) => {
  let daemon: TestDaemon;
  let home: string;
  let env: Env;
  beforeAll(async () => {
    home = scratch();
    daemon = await startDaemon({ env: driver });
    env = { HOME: home, SVC_API_URL: daemon.url, SVC_API_KEY: daemon.apiKey };
    expect((await run(['sandbox', 'create', '--name', 'box', '--env', 'A=1'], env)).code).toBe(0);
  }, 60_000);
  afterAll(async () => {
    const { stdout } = await run(['sandbox', 'list'], env);
    await run(
      [
        'sandbox',
        'rm',
        ...stdout
          .split('\n')
          .filter(Boolean)
          .map((line) => line.split('\t')[0] ?? ''),
      ],
      env,
    );
    await daemon.stop();
    rmSync(home, { recursive: true, force: true });
  }, 60_000);
  const svc = (...argv: string[]) => run(argv, env);

  test('exec keeps the streams apart, passes environment, directory and user, and ends as the command did', async () => {
    const script = 'echo "$A $B $(pwd) $(id -u)"; echo problem >&2; exit 42';
    const ran = await svc(
      'sandbox',
      'exec',
      'box',
      '--env',
      'B=x y',
      '--cwd',
      '/tmp',
      '--uid',
      '0',
      '--',
      'sh',
      '-c',
      script,
    );
    expect(ran).toEqual({ code: 42, stdout: '1 x y /tmp 0\n', stderr: 'problem\n' });
  });

  test('exec passes stdin byte for byte to a command that takes its time', async () => {
    const bytes = new Uint8Array(40 * 1024 * 1024).map((_, i) => (i * 31) ^ (i >> 8));
    const ran = await run(['sandbox', 'exec', 'box', '--', 'sh', '-c', 'sleep 1; sha256sum'], env, bytes);
    expect(ran.stdout.split(' ')[0]).toBe(new Bun.CryptoHasher('sha256').update(bytes).digest('hex'));
  }, 30_000);

  test('exec of a program that is not there is 127', async () => {
    expect(await svc('sandbox', 'exec', 'box', '--', 'nosuch')).toMatchObject({ code: 127, stdout: '' });
  });

  test('Ctrl-C ends the command and nothing of it stays', async () => {
    const script = 'for p in /proc/[0-9]*; do tr "\\0" " " <$p/cmdline; echo; done 2>/dev/null';
    const isSleeping = async () =>
      (await svc('sandbox', 'exec', 'box', '--', 'sh', '-c', script)).stdout
        .split('\n')
        .includes('sleep 987654 ');
    const child = spawn(['sandbox', 'exec', 'box', '--', 'sh', '-c', 'echo ready; sleep 987654'], env);
    // Not sooner: dash loses an interrupt that comes while it starts a program.
    await until(isSleeping);
    child.kill('SIGINT');
    expect(await child.exited).toBe(130);
    expect(await isSleeping()).toBe(false);
  });

  test('a command in the background is followed to its end', async () => {
    const { stdout } = await svc(
      'sandbox',
      'exec',
      'box',
      '-d',
      '--',
      'sh',
      '-c',
      'echo one; sleep 0.5; echo two; exit 3',
    );
    expect(stdout).toStartWith('cmd_');
    expect(await svc('sandbox', 'logs', 'box', stdout.trim(), '-f')).toEqual({
      code: 3,
      stdout: 'one\ntwo\n',
      stderr: '',
    });
  });

  test('a shell is a terminal of its own', async () => {
    let shown = '';
    const take = (bytes: Uint8Array) => {
      shown += Buffer.from(bytes).toString();
    };
    const child = Bun.spawn([...svcCommand(), 'sandbox', 'shell', 'box'], {
      env: { PATH: process.env.PATH, TERM: 'xterm', ...env },
      terminal: { cols: 91, rows: 17, data: (_, bytes) => take(bytes) },
    });
    child.terminal?.write('stty size; echo "tty: $(tty)"\r');
    await until(() => shown.includes('17 91') && /tty: \/dev\//.test(shown));
    child.terminal?.resize(77, 20);
    await until(() => {
      child.terminal?.write('stty size\r');
      return shown.includes('20 77');
    });
    child.terminal?.write('sleep 1000\r');
    await Bun.sleep(200);
    child.terminal?.write('\x03exit 5\r');
    expect(await child.exited).toBe(5);
  }, 30_000);

  test('labels, states and names work end to end', async () => {
    const { stdout: id } = await svc('sandbox', 'create', '--name', 'other', '--label', 'team=web');
    expect((await svc('sandbox', 'list', '--label', 'team=web')).stdout).toStartWith(
      `${id.trim()}\tother\trunning`,
    );
    expect((await svc('sandbox', 'create', '--name', 'other')).code).toBe(6);
    expect((await svc('sandbox', 'stop', 'other')).code).toBe(0);
    expect(await svc('sandbox', 'exec', 'other', '--', 'true')).toMatchObject({
      code: 6,
      stderr: expect.stringContaining('svc sandbox revive'),
    });
    expect((await svc('sandbox', 'revive', 'other')).code).toBe(0);
    expect((await svc('sandbox', 'stats', 'other', '--json')).code).toBe(0);
    expect((await svc('sandbox', 'events', 'other')).stdout).toContain('\trunning\t');
    const { stdout: again } = await svc('sandbox', 'recreate', 'other');
    expect(again.trim()).not.toBe(id.trim());
    expect((await svc('sandbox', 'terminate', 'other')).code).toBe(0);
  }, 30_000);

  test('an idempotency key makes one sandbox of two calls', async () => {
    const create = () => svc('sandbox', 'create', '--idempotency-key', 'cli-once');
    expect((await create()).stdout).toBe((await create()).stdout);
  });

  test('a key that is made works, and not once it is revoked', async () => {
    const { stdout: key } = await svc('key', 'create', 'ci');
    const asCi = { ...env, SVC_API_KEY: key.trim() };
    expect((await run(['sandbox', 'get', 'box'], asCi)).code).toBe(0);
    const { stdout } = await svc('key', 'list');
    const id =
      stdout
        .split('\n')
        .find((line) => line.includes('\tci\t'))
        ?.split('\t')[0] ?? '';
    expect((await svc('key', 'revoke', id)).code).toBe(0);
    expect((await run(['sandbox', 'get', 'box'], asCi)).code).toBe(4);
  });

  test('a person signs in by email and password, works, and signs out', async () => {
    const person = { email: 'me@example.com', password: 'correct horse battery', name: 'Me' };
    expect((await svc('api', 'POST', '/v1/auth/register', '-d', JSON.stringify(person))).code).toBe(0);
    const own: Env = { HOME: join(home, 'person'), TERM: 'xterm', PATH: process.env.PATH };
    mkdirSync(own.HOME ?? '');
    let shown = '';
    const take = (bytes: Uint8Array) => {
      shown += Buffer.from(bytes).toString();
    };
    const child = Bun.spawn([...svcCommand(), 'login', '--api-url', daemon.url, '--email', person.email], {
      env: own,
      terminal: { data: (_, bytes) => take(bytes) },
    });
    await until(() => shown.includes('Password'));
    child.terminal?.write(`${person.password}\r`);
    expect(await child.exited).toBe(0);
    expect((await run(['whoami'], own)).stdout).toContain(`user\t${person.email}\n`);
    expect((await run(['sandbox', 'exec', 'box', '--', 'echo', 'hi'], own)).stdout).toBe('hi\n');
    expect((await run(['logout'], own)).code).toBe(0);
    expect((await run(['sandbox', 'list'], own)).code).not.toBe(0);
  }, 30_000);

  test('api calls any operation, and streams', async () => {
    const body = { model: 'local/echo', messages: [{ role: 'user', content: 'Hi' }], stream: true };
    const { stdout } = await svc('api', 'POST', '/compat/v1/chat/completions', '-d', JSON.stringify(body));
    expect(stdout.trim()).toEndWith('data: [DONE]');
  });
});
