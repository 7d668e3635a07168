import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sandboxLifecycle } from '../src/api/sandbox/lifecycle.ts';
import type { Client } from '../src/client/client.ts';
import { startDaemon, svcCommand, type TestDaemon } from './support/daemon.ts';
import { driverCases } from './support/drivers.ts';
import { clientOf, newSandbox, run } from './support/scene.ts';

setDefaultTimeout(60_000);

describe.each(driverCases)('svc sandbox cp on the $name driver', ({ env }) => {
  let daemon: TestDaemon;
  let client: Client;
  let id: string;
  let dir: string;
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'svc-cp-'));
    daemon = await startDaemon({ env });
    client = clientOf(daemon);
    id = await newSandbox(client, { name: 'box' });
  }, 60_000);
  afterAll(async () => {
    await client?.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId: id }, body: {} });
    await daemon?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  const cp = (from: string, to: string, stdin?: Uint8Array<ArrayBuffer>) => svc(['cp', from, to], stdin);
  const svc = async (argv: readonly string[], stdin?: Uint8Array<ArrayBuffer>) => {
    const child = Bun.spawn([...svcCommand(), 'sandbox', ...argv], {
      cwd: dir,
      env: { ...process.env, HOME: dir, SVC_API_URL: daemon.url, SVC_API_KEY: daemon.apiKey },
      stdin: stdin ? new Blob([stdin]) : 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).bytes(),
      new Response(child.stderr).text(),
    ]);
    return { code: await child.exited, stdout: Buffer.from(stdout), stderr };
  };
  const sh = async (command: string) => (await run(client, id, command)).stdout;

  test('copies a file both ways with its mode, into directories under its name', async () => {
    writeFileSync(join(dir, 'tool'), 'echo hi\n');
    chmodSync(join(dir, 'tool'), 0o750);
    expect(await cp('tool', 'box:/workspace')).toMatchObject({ code: 0, stderr: '' });
    expect(await cp('tool', 'box:/workspace/new/name')).toMatchObject({ code: 0 });
    expect(await sh('stat -c %a /workspace/tool /workspace/new/name; cat /workspace/new/name')).toBe(
      '750\n750\necho hi\n',
    );
    mkdirSync(join(dir, 'in'));
    expect(await cp('box:/workspace/tool', 'in')).toMatchObject({ code: 0 });
    expect(await cp('box:/workspace/tool', 'other')).toMatchObject({ code: 0 });
    expect([readFileSync(join(dir, 'in/tool'), 'utf8'), statSync(join(dir, 'other')).mode & 0o777]).toEqual([
      'echo hi\n',
      0o750,
    ]);
  });

  test('copies a directory both ways, links and empty directories and odd names too', async () => {
    await sh(
      "mkdir -p /workspace/src/a/empty /workspace/src/b; cd /workspace/src; echo 1 > a/one; printf '\\0\\377' > 'b/odd name é'; ln -s ../a/one b/link; ln -s /etc/passwd out; chmod 700 a",
    );
    expect(await cp('box:/workspace/src', 'copy')).toMatchObject({ code: 0 });
    const at = (path: string) => join(dir, 'copy', path);
    expect([readFileSync(at('a/one'), 'utf8'), [...readFileSync(at('b/odd name é'))]]).toEqual([
      '1\n',
      [0, 255],
    ]);
    expect([readlinkSync(at('b/link')), readlinkSync(at('out')), statSync(at('a')).mode & 0o777]).toEqual([
      '../a/one',
      '/etc/passwd',
      0o700,
    ]);
    expect(lstatSync(at('a/empty')).isDirectory()).toBe(true);
    const up = await cp('copy', 'box:/workspace/back');
    expect([up.code, up.stderr]).toEqual([0, '2 links and special files were left out.\n']);
    expect(await sh('cd /workspace/back; find . -type f -o -type d | LC_ALL=C sort; stat -c %a a')).toBe(
      '.\n./a\n./a/empty\n./a/one\n./b\n./b/odd name é\n700\n',
    );
  });

  test('writes nothing through a link that is at the target', async () => {
    mkdirSync(join(dir, 'outside'));
    mkdirSync(join(dir, 'trap'));
    symlinkSync(join(dir, 'outside'), join(dir, 'trap/d'));
    await sh('mkdir -p /workspace/trap/d; echo evil > /workspace/trap/d/f');
    const { code, stderr } = await cp('box:/workspace/trap/', '.');
    expect([code, stderr]).toEqual([6, expect.stringContaining('no directory')]);
    expect(existsSync(join(dir, 'outside/f'))).toBe(false);
  });

  test('takes stdin and gives stdout; a directory is an archive there', async () => {
    const bytes = crypto.getRandomValues(new Uint8Array(50_000));
    expect(await cp('-', 'box:/workspace/stdin', bytes)).toMatchObject({ code: 0 });
    expect((await cp('box:/workspace/stdin', '-')).stdout.equals(Buffer.from(bytes))).toBe(true);
    await sh('mkdir -p /workspace/pack; echo x > /workspace/pack/f');
    const { stdout } = await cp('box:/workspace/pack', '-');
    const child = Bun.spawn(['tar', '-t'], { stdin: new Blob([Uint8Array.from(stdout)]), stdout: 'pipe' });
    expect(await new Response(child.stdout).text()).toBe('pack/\npack/f\n');
  });

  test('takes a file of more than one piece', async () => {
    const size = 70 * 1024 * 1024;
    const bytes = new Uint8Array(size).map((_, i) => (i * 31) ^ (i >> 9));
    writeFileSync(join(dir, 'big'), bytes);
    const digest = new Bun.CryptoHasher('sha256').update(bytes).digest('hex');
    expect(await cp('big', 'box:/workspace/big')).toMatchObject({ code: 0 });
    expect((await sh('sha256sum /workspace/big; ls -A /workspace | grep -c part')).replace(/ .*/, '')).toBe(
      `${digest}\n0\n`,
    );
    expect(await cp('box:/workspace/big', 'big2')).toMatchObject({ code: 0 });
    expect(new Bun.CryptoHasher('sha256').update(readFileSync(join(dir, 'big2'))).digest('hex')).toBe(digest);
  }, 60_000);

  test.each<[string, string, number, string]>([
    ['nothing-here', 'box:/workspace', 2, 'nothing-here'],
    ['box:/workspace/nothing', '.', 5, '/workspace/nothing'],
    ['box:relative', '.', 2, 'absolute'],
    ['box:/a', 'box:/b', 2, 'one side'],
    ['here', 'there', 2, 'one side'],
    ['box:/etc/shadow', '.', 4, '/etc/shadow'],
  ])('%s to %s ends with %d and says why', async (from, to, code, words) => {
    await run(client, id, '[ -e /etc/shadow ] || touch /etc/shadow; chmod 600 /etc/shadow', { uid: 0 });
    const ended = await cp(from, to);
    expect([ended.code, ended.stderr]).toEqual([code, expect.stringContaining(words)]);
  });

  test('svc sandbox files lists, prints, makes, moves, finds and removes', async () => {
    const files = async (...argv: string[]) => {
      const { code, stdout, stderr } = await svc(['files', ...argv]);
      return { code, stdout: stdout.toString(), stderr };
    };
    expect(await files('mkdir', 'box', '/workspace/v/a/b', '--mode', '700')).toMatchObject({ code: 0 });
    await sh("cd /workspace/v; printf 'one\\ntwo\\n' > a/f; ln -s a l; : > 'e\tsc'");
    const listed = await files('ls', 'box', '/workspace/v', '--depth', '2');
    const rows = listed.stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split('\t'));
    expect(
      rows.map(([mode, owner, size, , path]) => [mode, owner, mode?.startsWith('-') ? size : '', path]),
    ).toEqual([
      ['d 755', rows[0]?.[1], '', '/workspace/v/a'],
      ['d 700', rows[0]?.[1], '', '/workspace/v/a/b'],
      ['- 644', rows[0]?.[1], '8', '/workspace/v/a/f'],
      ['- 644', rows[0]?.[1], '0', '/workspace/v/e?sc'],
      ['l 777', rows[0]?.[1], '', '/workspace/v/l -> a'],
    ]);
    expect(
      JSON.parse((await files('ls', 'box', '/workspace/v', '--limit', '1', '--json')).stdout),
    ).toMatchObject({
      total: 3,
      entries: [{ type: 'directory' }],
    });
    expect(await files('cat', 'box', '/workspace/v/a/f', '/workspace/v/l/f')).toEqual({
      code: 0,
      stdout: 'one\ntwo\none\ntwo\n',
      stderr: '',
    });
    expect(await files('cat', 'box', '/workspace/v')).toMatchObject({ code: 2 });
    expect(await files('grep', 'box', 't.o', '/workspace/v')).toEqual({
      code: 0,
      stdout: '/workspace/v/a/f:2:two\n',
      stderr: '',
    });
    expect(await files('grep', 'box', 'nowhere', '/workspace/v')).toMatchObject({ code: 1, stdout: '' });
    expect((await files('find', 'box', 'f', '/workspace/v')).stdout).toContain('\t/workspace/v/a/f\n');
    expect(await files('mv', 'box', '/workspace/v/a/f', '/workspace/v/g')).toMatchObject({ code: 0 });
    expect(await files('rm', 'box', '/workspace/v/a')).toMatchObject({ code: 6 });
    expect(await files('rm', 'box', '-r', '/workspace/v/a')).toMatchObject({ code: 0 });
    expect(await files('rm', 'box', '/workspace/v/g', '/workspace/v/l')).toMatchObject({ code: 0 });
    expect((await sh('ls -A /workspace/v')).split('\n')).toHaveLength(2);
  });
});
