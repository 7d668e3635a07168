import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '../../../../../src/kit/id.ts';
import { boxSpec, finish, run, sh, withBox } from '../conformance/scene.ts';
import { idRangeOf } from '../host/user-namespace.ts';
import { readRecord } from './box/record.ts';
import { whyUnusable } from './probe.ts';
import { openPlace, type Place } from './testing/place.ts';

describe.skipIf(whyUnusable('t') !== undefined)('somebody who wants to get out of a box', () => {
  let place: Place;
  beforeAll(async () => {
    place = await openPlace();
    await writeFile(join(place.dataDir, 'canary-of-the-daemon'), 'secret', { mode: 0o644 });
  }, 60_000);
  afterAll(() => place.close(), 60_000);

  const initOf = () => readRecord(join(place.dataDir, 'boxes', place.box))?.init?.pid ?? 0;
  const root = { uid: 0 };

  test('finds no account, key, token, socket or home of the host', async () => {
    const paths = [
      ...[
        '/etc/shadow',
        '/etc/gshadow',
        '/etc/ssh',
        '/etc/ssl/private',
        '/etc/sudoers',
        '/etc/environment',
        '/etc/fstab',
      ],
      ...[
        '/etc/gitconfig',
        '/etc/npmrc',
        '/etc/docker',
        '/etc/machine-id',
        '/usr/etc/npmrc',
        '/boot',
        '/data',
        '/lost+found',
      ],
      ...[
        '/run/docker.sock',
        '/var/run/docker.sock',
        '/run/systemd',
        '/run/netns',
        '/sys/fs/cgroup/cgroup.procs',
      ],
      ...[
        '/dev/vda',
        '/dev/sda',
        '/dev/mem',
        '/dev/kmsg',
        '/dev/fuse',
        '/dev/net',
        '/dev/kvm',
        place.dataDir,
      ],
    ];
    const script = paths.map((path) => `[ ! -e ${path} ] || echo ${path}`).join('\n');
    expect((await run(place, script, root)).stdout).toBe('');
    const empty = [
      '/root',
      '/mnt',
      '/opt',
      '/srv',
      '/var/lib',
      '/var/log',
      '/var/cache',
      '/usr/local/etc',
      '/run',
    ];
    expect((await run(place, `ls -A ${empty.join(' ')} | grep -v ':$' | grep .`, root)).stdout).toBe('');
    expect((await run(place, 'ls -A /home', root)).stdout).toBe('svc\n');
    expect((await run(place, 'cut -d: -f1 /etc/passwd', root)).stdout).toBe('root\ndaemon\nnobody\nsvc\n');
  });

  test('finds nothing of the daemon, by name or by mount', async () => {
    const { stdout } = await run(
      place,
      'find / -xdev -name "canary-of*" 2>/dev/null; find / -xdev -name box.json 2>/dev/null',
      root,
    );
    expect(stdout).toBe('');
    const { stdout: mounts } = await run(place, 'cut -d" " -f5 /proc/self/mountinfo', root);
    const known = /^\/($|usr$|etc\/resolv\.conf$|proc|dev|sys|tmp$|bin$|sbin$|lib)/;
    expect(
      mounts
        .trim()
        .split('\n')
        .filter((path) => !known.test(path)),
    ).toEqual([]);
  });

  test('has few devices, and can open no other', async () => {
    const { stdout } = await run(place, 'ls /dev', root);
    const known =
      'core fd full mqueue null ptmx pts random shm stderr stdin stdout tty urandom zero console'.split(' ');
    expect(
      stdout
        .trim()
        .split('\n')
        .filter((name) => !known.includes(name)),
    ).toEqual([]);
    for (const dir of ['/tmp', '/workspace', '/dev', '/dev/shm'])
      expect((await run(place, `mknod ${dir}/disk b 254 0 && cat ${dir}/disk`, root)).exit.code).not.toBe(0);
  });

  test('inherits no descriptor of the daemon, nor does the first process', async () => {
    const { stdout } = await run(place, 'ls -l /proc/self/fd | tail -n +2 | grep -o "[0-9]* -> .*"', root);
    const open = stdout
      .trim()
      .split('\n')
      .filter((line) => !/^[012] -> (pipe:|\/dev\/null)/.test(line));
    expect(open.filter((line) => !/-> \/proc\/\d+\/fd$/.test(line))).toEqual([]);
    const first = await run(place, 'for f in /proc/1/fd/*; do readlink $f; done | sort -u', root);
    expect(first.stdout).toMatch(/^(\/dev\/null\n)?$/);
    expect((await run(place, 'tr "\\0" "\\n" </proc/1/environ', root)).stdout).toBe('HOME=/root\n');
  });

  test('cannot start where a descriptor of the runtime leads', async () => {
    for (let fd = 0; fd < 24; fd++) {
      const { exit, stdout } = await run(place, 'ls -a; pwd -P', { cwd: `/proc/self/fd/${fd}`, ...root });
      expect([fd, stdout.includes('canary'), exit.startError === undefined]).toEqual([fd, false, false]);
    }
  });

  test('is nobody on the host, whoever inside', async () => {
    const { base, size } = idRangeOf(place.instance);
    const execution = await place.driver.exec(place.box, sh('sleep 1000', root));
    await Bun.sleep(100);
    const { stdout } = await run(place, 'cat /proc/self/uid_map', root);
    expect(stdout.trim().split(/\s+/).map(Number)).toEqual([0, base, size]);
    expect(readFileSync(`/proc/${initOf()}/status`, 'utf8')).toMatch(new RegExp(`^Uid:\\s+${base}\\s`, 'm'));
    await run(place, 'touch /workspace/mine; chmod 4755 /workspace/mine', root);
    const file = lstatSync(join(place.dataDir, 'boxes', place.box, 'upper/root/workspace/mine'));
    expect(file.uid).toBe(base);
    expect(lstatSync(join(place.dataDir, 'boxes')).mode & 0o077).toBe(0);
    for (const kind of ['user', 'pid', 'mnt', 'net', 'ipc', 'uts', 'cgroup'])
      expect(readlinkSync(`/proc/${initOf()}/ns/${kind}`)).not.toBe(readlinkSync(`/proc/self/ns/${kind}`));
    await execution.kill('SIGKILL');
  });

  test('gains nothing by set-id programs', async () => {
    const { stdout } = await run(
      place,
      'cp /usr/bin/id /workspace/su-id && chown 0:0 /workspace/su-id && chmod 6755 /workspace/su-id && ls -l /workspace/su-id',
      root,
    );
    expect(stdout).toContain('rwsr-sr-x');
    expect((await run(place, '/workspace/su-id -u')).stdout).toBe('1000\n');
    expect((await run(place, 'su root -c id 2>&1 || sudo -n id 2>&1')).exit.code).not.toBe(0);
  });

  test('cannot change the programs of the host', async () => {
    const name = `/usr/bin/canary-${place.instance}`;
    expect((await run(place, `echo x >${name} && rm /usr/bin/id && ls ${name}`, root)).stdout).toBe(
      `${name}\n`,
    );
    expect([existsSync(name), existsSync('/usr/bin/id')]).toEqual([false, true]);
    await withBox(place, {}, async (id) => {
      expect((await run(place, `ls ${name}`, {}, id)).exit.code).not.toBe(0);
    });
  });

  test('cannot open sockets that reach past IP, or raw ones', async () => {
    const open = (family: number, type: number) =>
      run(place, `perl -e 'socket(S, ${family}, ${type}, 0) and print "open"'`, root).then(
        ({ stdout }) => stdout,
      );
    expect(await open(2, 1)).toBe('open');
    // vsock, packet, alg, bluetooth, tipc, xdp; then raw IP
    for (const family of [40, 17, 38, 31, 30, 44])
      expect([family, await open(family, 5)]).toEqual([family, '']);
    for (const family of [40, 17, 38, 31, 30, 44])
      expect([family, await open(family, 3)]).toEqual([family, '']);
    expect(await open(2, 3)).toBe('');
  });

  test('does not mislead the next start by links in place of folders', async () => {
    await withBox(place, {}, async (id, spec) => {
      const canary = join(place.dataDir, 'canary-of-the-daemon');
      const script = `mv /etc /etc.old; ln -s ${place.dataDir} /etc; rm -rf /workspace; ln -s / /workspace; rmdir /mnt; ln -s ${canary} /mnt`;
      await run(place, script, { ...root, cwd: '/' }, id);
      await place.driver.stop(id);
      await place.driver.start(id, spec).catch(() => {});
      const seen = await run(place, 'cat /mnt /etc/canary* 2>/dev/null', { ...root, cwd: '/' }, id).catch(
        () => ({ stdout: '' }),
      );
      expect(seen.stdout).toBe('');
      expect(readFileSync(canary, 'utf8')).toBe('secret');
    });
  });

  test('shares no memory, queue or temporary file with another box', async () => {
    await run(place, 'echo x >/dev/shm/a; echo x >/tmp/a; hostname');
    await withBox(place, {}, async (id) => {
      expect((await run(place, 'ls -A /dev/shm /tmp | grep -v :', {}, id)).stdout.trim()).toBe('');
    });
  });

  test.each([
    ['uid', { uid: 70_000 }],
    ['gid', { gid: 70_000 }],
    ['negative uid', { uid: -1 }],
  ])('cannot be a user that boxes do not have (%s)', async (_, change) => {
    const { exit, stdout } = await run(place, 'id -u', change).catch((error: { code?: string }) => ({
      exit: { code: 126, startError: error.code },
      stdout: '',
    }));
    expect(exit.startError).toBeString();
    expect(exit.code).toBe(126);
    expect(stdout).toBe('');
  });

  test.each(['../x', 'a/b', '.', '..', '', 'x'.repeat(200), '-rf', 'a b', '.shared'])(
    'cannot name a box %j',
    async (id) => {
      const made = place.driver.create(boxSpec('host', { id }));
      expect(made).rejects.toMatchObject({ code: 'invalid_argument' });
      await made.catch(() => {});
      await place.driver.remove(id);
      expect((await place.driver.inspect(id)).state).toBe('missing');
      expect(existsSync(join(place.dataDir, 'boxes/.shared'))).toBe(true);
    },
  );

  test.each(['../../x', '', 'a/b'])('cannot name a command %j', async (id) => {
    expect(place.driver.exec(place.box, { id, argv: ['true'] })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
    const path = join(place.dataDir, 'log');
    expect(place.driver.spawn(place.box, { id, argv: ['true'] }, path)).rejects.toMatchObject({
      code: 'invalid_argument',
    });
    expect(await place.driver.attach(place.box, id)).toBeUndefined();
  });

  test.each([
    ['argv', { argv: ['printf', 'a\0b'] as [string, string] }],
    ['env', { env: { A: 'x\0LD_PRELOAD=/x' } }],
    ['cwd', { cwd: '/tmp\0/x' }],
  ])('cannot smuggle a NUL into %s', async (_, change) => {
    const spec = { id: newId('cmd'), argv: ['true'] as [string], ...change };
    expect(place.driver.exec(place.box, spec)).rejects.toMatchObject({ code: 'invalid_argument' });
  });

  test('leaves no environment of a command on the disk when it is over', async () => {
    const env = { TOKEN: 'very-secret-value' };
    await run(place, 'true', { env });
    const detached = await place.driver.spawn(place.box, sh('true', { env }), join(place.dataDir, 'log'));
    await detached.exited;
    const found = Bun.spawnSync(['grep', '-rl', 'very-secret-value', join(place.dataDir, 'boxes')]);
    expect(found.stdout.toString()).toBe('');
    const execution = await place.driver.exec(place.box, sh('sleep 1', { env }));
    const listed = Bun.spawnSync(['sh', '-c', 'cat /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" " "']);
    expect(listed.stdout.toString()).not.toContain('very-secret-value');
    await finish(execution);
  });
});
