import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sandboxHistory } from '../src/api/sandbox/history.ts';
import { sandboxLifecycle } from '../src/api/sandbox/lifecycle.ts';
import { sandboxSsh } from '../src/api/sandbox/ssh.ts';
import type { Client } from '../src/client/client.ts';
import { freePort, startDaemon, svcCommand, type TestDaemon } from './support/daemon.ts';
import { driverCases } from './support/drivers.ts';
import { clientOf, newSandbox, until } from './support/scene.ts';
import { OpenSsh, run } from './support/ssh/openssh.ts';

/** Megabytes that go each way in the flood tests. */
const FLOOD_MB = Number(process.env.SVC_TEST_FLOOD_MB ?? 100);
const MIB = 1024 * 1024;

describe.each(driverCases)('SSH into sandboxes on the $name driver', ({ env }) => {
  let daemon: TestDaemon;
  let client: Client;
  let ssh: OpenSsh;
  let id: string;
  let token: string;
  const made: string[] = [];

  beforeAll(async () => {
    daemon = await startDaemon({ env: { ...env, SVC_SSH_PORT: String(freePort()) } });
    client = clientOf(daemon);
    id = await box('box');
    const info = await client.call(sandboxSsh.GetSandboxSSHInfo, { params: { sandboxId: id } });
    ssh = new OpenSsh({ host: info.host ?? '', port: info.port ?? 0, hostKey: info.hostKey ?? '' });
    token = (await newToken(id)).token ?? '';
  });
  afterAll(async () => {
    for (const sandboxId of made)
      await client
        .call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId }, body: {} })
        .catch(() => undefined);
    ssh.close();
    await daemon.stop();
  });

  const box = async (name: string) => {
    const made_ = await newSandbox(client, { name, sshEnabled: true });
    made.push(made_);
    return made_;
  };
  const newToken = (sandboxId: string, expiresInMinutes?: number) =>
    client.call(sandboxSsh.CreateSshToken, { params: { sandboxId }, body: { expiresInMinutes } });
  const exec = (command: string, args: string[] = [], stdin?: Uint8Array) =>
    ssh.ssh(token, [command], args, stdin);
  /** A connection that is open and has run something. */
  const connected = async (user: string, args: string[] = []) => {
    const child = ssh.start(user, ['echo open; cat'], args);
    const reader = child.stdout.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe('open\n');
    return child;
  };
  const endsSoon = async (child: Bun.Subprocess) => {
    const end = await Promise.race([child.exited, Bun.sleep(15_000).then(() => 'still there')]);
    expect(end).toBe(255);
  };
  const residentMb = () =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${daemon.pid}/status`, 'utf8'))?.[1]) / 1024;

  test('what the instance tells is what the server is', async () => {
    const info = await client.call(sandboxSsh.GetSandboxSSHInfo, { params: { sandboxId: 'box' } });
    expect(info).toMatchObject({ enabled: true, host: '127.0.0.1', user: id, message: '' });
    expect(info.connectionString).toBe(`ssh -p ${info.port} ${id}@127.0.0.1`);
    const scan = await run(['ssh-keyscan', '-p', String(info.port), '-t', 'ed25519', '127.0.0.1']);
    expect(scan.stdout).toContain(info.hostKey ?? 'no key');
  });

  test('a token is told with the command that uses it, and listed without', async () => {
    const one = await newToken('box', 5);
    expect(one.id).toStartWith('ssht_');
    expect(one.connectionString).toContain(`${one.token}@127.0.0.1`);
    const listed = await client.call(sandboxSsh.ListSshTokens, { params: { sandboxId: 'box' } });
    expect(listed.tokens.map((other) => other.id)).toContain(one.id);
    expect(JSON.stringify(listed)).not.toContain(one.token ?? '');
    const bad = await daemon.fetch('/v1/sandbox/instances/box/ssh-token?expiresInMinutes=1441', {
      method: 'POST',
    });
    expect([bad.status, await bad.text()]).toEqual([400, expect.stringContaining('expiresInMinutes')]);
  });

  describe('a command', () => {
    test.each([
      ['true', 0],
      ['exit 7', 7],
      ['no-such-program', 127],
      ['kill -9 $$', 255],
    ])('%s ends with %d', async (command, code) => {
      expect((await exec(command)).code).toBe(code);
    });

    test('has its output apart, its input to the end, and runs as the sandbox’s own user', async () => {
      const { stdout, stderr, code } = await exec('cat; echo err >&2; id -u; pwd', [], Buffer.from('in\n'));
      expect({ stdout, stderr, code }).toEqual({
        stdout: 'in\n1000\n/workspace\n',
        stderr: 'err\n',
        code: 0,
      });
    });

    test('is in the history of the sandbox', async () => {
      await exec('echo in the history');
      const { executions } = await client.call(sandboxHistory.ListSandboxExecutions, {
        params: { sandboxId: id },
      });
      expect(executions?.find(({ command }) => command === 'echo in the history')).toMatchObject({
        exitCode: 0,
      });
    });

    test('gets the variables that are let through, and no others', async () => {
      const args = ['-o', 'SetEnv=LC_TEST=there LD_PRELOAD=/evil.so'];
      expect((await exec('echo "$LC_TEST|$LD_PRELOAD"', args)).stdout).toBe('there|\n');
    });

    test('whose peer leaves is ended', async () => {
      const child = ssh.start(token, ['echo $$; exec sleep 777']);
      const reader = child.stdout.getReader();
      await reader.read();
      child.kill('SIGKILL');
      await until(async () => !(await exec('ps -eo args 2>/dev/null || ps')).stdout.includes('sleep 777'));
    });

    test(`sends and takes ${FLOOD_MB} MB of any bytes, at a steady size of the daemon`, async () => {
      const bytes = new Uint8Array(FLOOD_MB * MIB);
      for (let at = 0; at < bytes.length; at += 65_536)
        crypto.getRandomValues(bytes.subarray(at, at + 65_536));
      const sum = new Bun.CryptoHasher('sha256').update(bytes).digest('hex');
      const child = Bun.spawn(
        ssh.sshLine(token, ['tee /tmp/flood | sha256sum >&2; cat /tmp/flood; rm /tmp/flood']),
        {
          stdin: bytes,
          stdout: 'pipe',
          stderr: 'pipe',
        },
      );
      const back = new Bun.CryptoHasher('sha256');
      for await (const part of child.stdout) back.update(part);
      expect(await new Response(child.stderr).text()).toStartWith(sum);
      expect(back.digest('hex')).toBe(sum);
      expect(residentMb()).toBeLessThan(450);
    });

    test('that floods both of its outputs loses and repeats nothing', async () => {
      const loop = 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do';
      const { stdout, stderr } = await exec(
        `${loop} head -c 500000 /dev/zero | tr '\\0' a; head -c 400000 /dev/zero | tr '\\0' b >&2; done`,
      );
      expect([stdout.length, stdout.replaceAll('a', '')]).toEqual([10_000_000, '']);
      expect([stderr.length, stderr.replaceAll('b', '')]).toEqual([8_000_000, '']);
    });

    test('goes on over new session keys', async () => {
      const input = Buffer.alloc(8 * MIB, 'x');
      expect((await exec('cat', ['-o', 'RekeyLimit=1M'], input)).stdout.length).toBe(input.length);
    });
  });

  describe('a terminal', () => {
    test('has the size of its window, also when that changes', async () => {
      let seen = '';
      const child = Bun.spawn(
        ssh.sshLine(token, ['stty size; trap "stty size" WINCH; while :; do sleep 0.05; done'], ['-tt']),
        {
          terminal: {
            cols: 81,
            rows: 25,
            data: (_, bytes) => {
              seen += new TextDecoder().decode(bytes);
            },
          },
        },
      );
      await until(() => seen.includes('25 81'));
      child.terminal?.resize(133, 44);
      await until(() => seen.includes('44 133'));
      child.terminal?.write('\x03');
      await child.exited;
    });

    test('is a login shell without a command, and ends with its exit code', async () => {
      const { stdout, code } = await ssh.ssh(token, [], ['-tt'], Buffer.from('echo $((40+2)); exit 5\n'));
      expect([stdout.includes('42'), code]).toEqual([true, 5]);
    });
  });

  describe('files', () => {
    test('go both ways with scp -r, with their names and modes', async () => {
      const here = join(ssh.dir, 'tree');
      const odd = 'ünï cødé ☃';
      mkdirSync(join(here, odd), { recursive: true });
      writeFileSync(join(here, odd, 'run me'), '#!/bin/sh\n');
      chmodSync(join(here, odd, 'run me'), 0o750);
      expect(await ssh.scp(token, ['-rp', here, 'box:/workspace/tree'])).toMatchObject({ code: 0 });
      const inside = await exec(`stat -c %a '/workspace/tree/${odd}/run me'`);
      expect(inside.stdout).toBe('750\n');
      const back = join(ssh.dir, 'back');
      expect(await ssh.scp(token, ['-rp', 'box:tree', back])).toMatchObject({ code: 0 });
      expect(readFileSync(join(back, odd, 'run me'), 'utf8')).toBe('#!/bin/sh\n');
      expect(statSync(join(back, odd, 'run me')).mode & 0o777).toBe(0o750);
    });

    test('are kept with sftp', async () => {
      const local = join(ssh.dir, 'local');
      writeFileSync(local, 'one');
      const lines = [
        'mkdir d',
        `put ${local} d/a`,
        'rename d/a d/b',
        'ln -s b d/l',
        'chmod 600 d/b',
        'ls -la d',
        `get d/l ${local}.back`,
        'rm d/l',
        'rm d/b',
        'rmdir d',
      ];
      const { code, stdout } = await ssh.sftp(token, lines);
      expect(code).toBe(0);
      expect(stdout).toMatch(/-rw-------\s+\S+\s+1000\s+1000\s+3\s.*b$/m);
      expect(stdout).toMatch(/^lrwxrwxrwx.* l$/m);
      expect(readFileSync(`${local}.back`, 'utf8')).toBe('one');
      expect((await exec('ls -d d')).code).not.toBe(0);
    });

    test('are as the sandbox’s user may: what is root’s is not touched', async () => {
      const { code, stderr } = await ssh.sftp(token, ['rm /etc/passwd']);
      expect([code, stderr]).toEqual([1, expect.stringContaining('ermission denied')]);
      const missing = await ssh.sftp(token, ['get /nothing']);
      expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('not found')]);
    });

    test(`of ${FLOOD_MB} MB go there and back unchanged, at a steady size of the daemon`, async () => {
      const local = join(ssh.dir, 'large');
      const bytes = new Uint8Array(FLOOD_MB * MIB);
      for (let at = 0; at < bytes.length; at += 65_536)
        crypto.getRandomValues(bytes.subarray(at, at + 65_536));
      writeFileSync(local, bytes);
      expect(
        (await ssh.sftp(token, [`put ${local} /tmp/large`, `get /tmp/large ${local}.back`, 'rm /tmp/large']))
          .code,
      ).toBe(0);
      expect((await run(['cmp', local, `${local}.back`])).code).toBe(0);
      expect(residentMb()).toBeLessThan(450);
    });
  });

  describe('a tunnel', () => {
    const serve =
      'mkdir -p /tmp/www; echo hello > /tmp/www/index.html; cd /tmp/www; if command -v python3 >/dev/null; then exec python3 -m http.server 8123; else exec httpd -f -p 8123; fi';

    test('leads to a port of the sandbox, by many connections at once', async () => {
      const [server, port] = [ssh.start(token, [serve]), freePort()];
      const tunnel = ssh.start(token, [], ['-N', '-L', `${port}:localhost:8123`]);
      const get = () => fetch(`http://127.0.0.1:${port}/`).then((answer) => answer.text());
      await until(() => get().catch(() => undefined), 20_000);
      expect(await Promise.all(Array.from({ length: 20 }, get))).toEqual(Array(20).fill('hello\n'));
      const socks = freePort();
      const dynamic = ssh.start(token, [], ['-N', '-D', String(socks)]);
      const over = (url: string) => run(['curl', '-s', '-x', `socks5h://127.0.0.1:${socks}`, url]);
      await until(async () => (await over('http://localhost:8123/')).stdout === 'hello\n');
      expect((await over('http://198.51.100.1/')).code).not.toBe(0);
      for (const child of [dynamic, tunnel, server]) child.kill();
    });

    test.each([['198.51.100.1:80'], ['169.254.169.254:80'], ['host.docker.internal:80']])(
      'to %s is refused',
      async (target) => {
        const { code, stderr } = await ssh.ssh(token, [], ['-W', target]);
        expect([code, stderr]).toEqual([255, expect.stringContaining('forwarding failed')]);
      },
    );

    test('does not lead to this host: its own ports are not those of the sandbox', async () => {
      const { code } = await ssh.ssh(token, [], ['-W', `127.0.0.1:${new URL(daemon.url).port}`]);
      expect(code).toBe(255);
    });

    test('back from the sandbox is refused', async () => {
      const args = ['-R', '9999:localhost:80', '-o', 'ExitOnForwardFailure=yes'];
      expect((await exec('true', args)).code).toBe(255);
    });
  });

  test('several sessions share one connection', async () => {
    const control = ['-o', `ControlPath=${join(ssh.dir, 'mux')}`];
    const master = ssh.start(token, [], [...control, '-M', '-N']);
    await until(async () => (await exec('true', [...control, '-O', 'check'])).code === 0);
    const answers = await Promise.all(
      [1, 2, 3, 4, 5, 6].map((n) => ssh.ssh('nobody', [`echo ${n}; exit ${n}`], control)),
    );
    expect(answers.map(({ code, stdout }) => `${code} ${stdout}`)).toEqual(
      [1, 2, 3, 4, 5, 6].map((n) => `${n} ${n}\n`),
    );
    master.kill('SIGKILL');
    await master.exited;
  });

  describe('what is withdrawn ends at once, also for whoever is in:', () => {
    test('a token', async () => {
      const one = await newToken(id);
      const child = await connected(one.token ?? '');
      await client.call(sandboxSsh.RevokeSshToken, { params: { sandboxId: id, tokenId: one.id ?? '' } });
      await endsSoon(child);
      const again = await ssh.from('127.0.0.21').ssh(one.token ?? '', ['true']);
      expect([again.code, again.stderr]).toEqual([255, expect.stringContaining('Permission denied')]);
    });

    test('a key', async () => {
      const path = await ssh.newKey('ed25519');
      const publicKey = readFileSync(`${path}.pub`, 'utf8');
      const { key } = await client.call(sandboxSsh.AddSSHKey, { body: { publicKey } });
      const child = await connected('box', ssh.withKey(path));
      await client.call(sandboxSsh.DeleteSSHKey, { params: { keyId: key?.id ?? '' } });
      await endsSoon(child);
    });

    test('SSH itself, and it comes back', async () => {
      const child = await connected(token);
      const set = (enabled: boolean) =>
        client.call(sandboxSsh.SetSandboxSSH, { params: { sandboxId: id }, body: { enabled } });
      await set(false);
      await endsSoon(child);
      const refused = await exec('true');
      expect([refused.code, refused.stderr]).toEqual([
        255,
        expect.stringContaining('svc sandbox ssh-enable box'),
      ]);
      await set(true);
      expect((await exec('true')).code).toBe(0);
    });

    test('nothing of a sandbox that wakes for whoever comes: it sleeps, and is woken', async () => {
      const waker = await newSandbox(client, { name: 'waker', sshEnabled: true, wakeOnRequest: true });
      made.push(waker);
      await client.call(sandboxLifecycle.StopSandbox, { params: { sandboxId: waker }, body: {} });
      const key = (await newToken(waker)).token ?? '';
      const answers = await Promise.all([1, 2, 3].map((n) => ssh.ssh(key, [`echo ${n}`])));
      expect(answers.map(({ stdout }) => stdout)).toEqual(['1\n', '2\n', '3\n']);
    });

    test('the sandbox, which then says how to wake it', async () => {
      const sleeper = await box('sleeper');
      const key = (await newToken(sleeper)).token ?? '';
      const child = await connected(key);
      await client.call(sandboxLifecycle.StopSandbox, { params: { sandboxId: sleeper }, body: {} });
      await endsSoon(child);
      const { code, stderr } = await ssh.ssh(key, ['true']);
      expect([code, stderr]).toEqual([255, expect.stringContaining(`svc sandbox revive ${sleeper}`)]);
      expect((await ssh.sftp(key, ['pwd'])).code).not.toBe(0);
    });
  });

  test('a token whose time is over lets nobody in', async () => {
    const one = await newToken(id);
    const db = new Database(join(daemon.dataDir, 'svc.db'));
    db.query('UPDATE ssh_tokens SET expires_at = ? WHERE id = ?').run(Date.now() - 1, one.id ?? '');
    db.close();
    expect((await ssh.from('127.0.0.22').ssh(one.token ?? '', ['true'])).code).toBe(255);
  });

  describe('a registered key', () => {
    test.each(['ed25519', 'ecdsa', 'rsa'] as const)(
      'of the type %s opens the sandbox by its id and its name',
      async (type) => {
        const path = await ssh.newKey(type);
        const publicKey = readFileSync(`${path}.pub`, 'utf8');
        const { key } = await client.call(sandboxSsh.AddSSHKey, { body: { publicKey, name: type } });
        expect((await ssh.ssh('box', ['echo name'], ssh.withKey(path))).stdout).toBe('name\n');
        expect((await ssh.ssh(id, ['echo id'], ssh.withKey(path))).stdout).toBe('id\n');
        const { keys = [] } = await client.call(sandboxSsh.ListSSHKeys);
        expect(keys.find((one) => one.id === key?.id)?.lastUsedAt).toBeString();
      },
    );

    test('that is not registered, or asks for a sandbox that is not there, is refused in the same words', async () => {
      const [known, unknown] = [await ssh.newKey('ed25519'), await ssh.newKey('ed25519')];
      await client.call(sandboxSsh.AddSSHKey, { body: { publicKey: readFileSync(`${known}.pub`, 'utf8') } });
      const from = ssh.from('127.0.0.23');
      const words = async (user: string, key: string) =>
        (await from.ssh(user, ['true'], from.withKey(key))).stderr.replace(user, 'USER');
      const answers = [
        await words('nowhere', known),
        await words('box', unknown),
        await words('nowhere', unknown),
      ];
      expect(new Set(answers).size).toBe(1);
      expect(answers[0]).toContain('Permission denied (publickey,password)');
    });

    test.each([
      ['DSA', 'ssh-dss AAAAB3NzaC1kc3M='],
      ['nothing', ''],
      ['half a key', 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA'],
    ])('that is %s is 400 naming the field', async (_, publicKey) => {
      const answer = await daemon.fetch('/v1/settings/ssh-keys', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ publicKey }),
      });
      expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('publicKey')]);
    });
  });

  describe('the command line', () => {
    const svc = (...args: string[]) =>
      run([
        'env',
        `SVC_API_URL=${daemon.url}`,
        `SVC_API_KEY=${daemon.apiKey}`,
        `XDG_CONFIG_HOME=${ssh.dir}`,
        `HOME=${ssh.dir}`,
        ...svcCommand(),
        'sandbox',
        ...args,
      ]);

    test('svc sandbox ssh runs a command, asks nothing, and ends with its exit code', async () => {
      const { stdout, code } = await svc('ssh', 'box', '--', 'echo there; exit 3');
      expect([stdout, code]).toEqual(['there\n', 3]);
    });

    test('svc sandbox ssh --dry-run prints a command line that works', async () => {
      const { stdout } = await svc('ssh', 'box', '--dry-run');
      expect((await run(['sh', '-c', `${stdout.trim()} -F none -o BatchMode=yes echo works`])).stdout).toBe(
        'works\n',
      );
    });

    test('svc sandbox ssh-key and ssh-config make plain ssh work', async () => {
      const path = await ssh.newKey('ed25519');
      const added = await svc('ssh-keys', 'add', `${path}.pub`, '--name', 'laptop');
      expect((await svc('ssh-key', 'list')).stdout).toContain('laptop');
      const config = join(ssh.dir, 'config');
      writeFileSync(config, (await svc('ssh-config', 'box', '-i', path)).stdout);
      expect((await run(['ssh', '-F', config, '-o', 'BatchMode=yes', 'box', 'echo plain'])).stdout).toBe(
        'plain\n',
      );
      expect((await svc('ssh-key', 'rm', added.stdout.trim())).code).toBe(0);
    });

    test('svc sandbox ssh-token makes, lists and revokes, and ssh-info tells', async () => {
      const one = JSON.parse((await svc('ssh-token', 'create', 'box', '--json')).stdout);
      expect((await svc('ssh-token', 'list', 'box')).stdout).toContain(one.id);
      expect((await svc('ssh-token', 'rm', 'box', one.id)).code).toBe(0);
      expect((await svc('ssh-token', 'list', 'box')).stdout).not.toContain(one.id);
      expect((await svc('ssh-info', 'box')).stdout).toContain('SHA256:');
    });

    test('svc sandbox ssh-disable and ssh-enable say no and yes', async () => {
      await svc('ssh-disable', 'box');
      const refused = await svc('ssh', 'box', '--', 'true');
      expect([refused.code, refused.stderr]).toEqual([6, expect.stringContaining('SSH is off')]);
      expect((await svc('ssh-enable', 'box')).code).toBe(0);
    });
  });

  test('whoever guesses waits, then is kept out, and nobody else is', async () => {
    const from = ssh.from('127.0.0.99');
    const guess = (end: string) => from.ssh(`st_${end.padStart(43, 'x')}`, ['true']);
    const words = (await Promise.all(Array.from({ length: 12 }, (_, i) => guess(String(i))))).map(
      ({ stderr }) => stderr,
    );
    expect(words.filter((text) => text.includes('Permission denied')).length).toBeGreaterThan(5);
    expect((await guess('last')).stderr).not.toContain('Permission denied');
    expect((await from.ssh(token, ['true'])).code).toBe(255);
    expect((await exec('true')).code).toBe(0);
  }, 90_000);

  test('after kill -9 the host key is the same and tokens are still good', async () => {
    const { dataDir, apiKey } = daemon;
    const before = await client.call(sandboxSsh.GetSandboxSSHInfo, { params: { sandboxId: id } });
    await daemon.kill9();
    daemon = await startDaemon({
      dataDir,
      apiKey,
      env: { ...env, SVC_SSH_PORT: String(before.port) },
    });
    client = clientOf(daemon);
    const after = await client.call(sandboxSsh.GetSandboxSSHInfo, { params: { sandboxId: id } });
    expect(after).toEqual(before);
    expect((await exec('echo again')).stdout).toBe('again\n');
  });

  test('nothing of a token is in the log', () => {
    expect(daemon.log()).not.toContain(token);
    expect(daemon.log()).not.toContain(token.slice(3, 30));
  });
});

test('a port that is taken does not keep the daemon from starting; the log and the answers say so', async () => {
  const taken = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
  const env = {
    SVC_SANDBOX_DRIVER: 'docker',
    SVC_DOCKER_SOCKET: '/nonexistent/docker.sock',
    SVC_SSH_PORT: String(taken.port),
  };
  const daemon = await startDaemon({ env });
  await until(() => daemon.log().includes(`port ${taken.port} is taken`));
  await daemon.stop();
  taken.stop(true);
});
