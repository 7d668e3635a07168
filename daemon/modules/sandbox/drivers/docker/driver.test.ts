import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtemp, readFile, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Docker from 'dockerode';
import { newId } from '../../../../../src/kit/id.ts';
import { dockerdMissing, startDockerd } from '../../../../../test/support/dockerd.ts';
import { type BoxChange, boxSpec, finish, settle, sh, within } from '../conformance/scene.ts';
import type { BoxSpec, ExecSpec, SandboxDriver } from '../driver.ts';
import { policyOf } from '../network/policy.ts';
import { createDockerDriver, type DockerDriverOptions } from './index.ts';

const skip = dockerdMissing();
const engine = skip ? undefined : await startDockerd();
const dataDir = await mkdtemp(join(tmpdir(), 'svc-docker-test-'));
const instance = `t${crypto.randomUUID().slice(0, 6)}`;
const client = new Docker({ socketPath: engine?.socket });
const image = engine?.image ?? '';

function newDriver(change: Partial<DockerDriverOptions> = {}): SandboxDriver {
  return createDockerDriver({ socketPath: engine?.socket, dataDir, instance, log: () => {}, ...change });
}

describe.skipIf(skip !== undefined)('docker driver', () => {
  setDefaultTimeout(60_000);
  const driver = newDriver();

  afterAll(async () => {
    for (const { id } of await driver.list()) await driver.remove(id);
    await driver.close();
    await rm(dataDir, { recursive: true, force: true });
    await engine?.stop();
  });

  async function withBox(change: BoxChange, body: (id: string, spec: BoxSpec) => Promise<void>) {
    const spec = boxSpec(image, change);
    try {
      await driver.create(spec);
      await body(spec.id, spec);
    } finally {
      await driver.remove(spec.id);
    }
  }

  async function run(id: string, script: string, change: Partial<ExecSpec> = {}) {
    return finish(await driver.exec(id, sh(script, change)));
  }

  async function settleFound(find: () => ReturnType<SandboxDriver['attach']>) {
    for (let tries = 0; tries < 50; tries++) {
      const found = await find();
      if (found) return found;
      await Bun.sleep(20);
    }
    throw new Error('the command was not found');
  }

  const exchange = (id: string) => join(dataDir, 'docker/boxes', id, 'exchange');

  describe('a container', () => {
    test('bears its marks and all the hardening', async () => {
      await withBox({ limits: { cpu: 0.5, memoryMb: 96, pids: 40 } }, async (id) => {
        const { containerId } = await driver.inspect(id);
        const { Config: config, HostConfig: host } = await client.getContainer(containerId).inspect();
        expect(config.Labels).toMatchObject({
          'svc.instance': instance,
          'svc.sandbox': id,
          'svc.image': image,
        });
        expect(host).toMatchObject({
          Init: true,
          Privileged: false,
          CapDrop: ['ALL'],
          NetworkMode: 'none',
          IpcMode: 'private',
          CgroupnsMode: 'private',
          NanoCpus: 500_000_000,
          Memory: 96 * 1024 * 1024,
          MemorySwap: 96 * 1024 * 1024,
          PidsLimit: 40,
          LogConfig: { Type: 'none' },
          RestartPolicy: { Name: 'no' },
        });
        expect(host.CapAdd).not.toContain('NET_RAW');
        expect(host.CapAdd).not.toContain('MKNOD');
        expect(host.SecurityOpt).toContain('no-new-privileges:true');
        expect(host.MaskedPaths).toContain('/proc/kcore');
        expect(host.ReadonlyPaths).toContain('/proc/sys');
        expect(host.Binds).toEqual([
          `${exchange(id)}:/run/svc:rw,Z`,
          `${join(exchange(id), '../call')}:/.svc/call:ro,Z`,
        ]);
      });
    });

    test('of another instance is not ours', async () => {
      const other = newDriver({ instance: `${instance}b` });
      const spec = boxSpec(image);
      try {
        await other.create(spec);
        expect((await driver.list()).map(({ id }) => id)).not.toContain(spec.id);
        expect((await driver.inspect(spec.id)).state).toBe('missing');
        expect((await other.list()).map(({ id }) => id)).toEqual([spec.id]);
      } finally {
        await other.remove(spec.id);
        await other.close();
      }
    });

    test('is not made twice, and the first one stays as it is', async () => {
      await withBox({ env: { A: '1' } }, async (id) => {
        const again = driver.create(boxSpec(image, { id, env: { A: '2' } }));
        await expect(again).rejects.toMatchObject({ code: 'already_exists' });
        await again.catch(() => {});
        expect((await run(id, 'echo $A')).stdout).toBe('1\n');
      });
    });

    test('that died by itself is stopped, and starts again', async () => {
      await withBox({}, async (id, spec) => {
        await run(id, 'kill -9 $(pidof sleep)', { uid: 0 });
        expect(await settle(async () => (await driver.inspect(id)).state, 'stopped')).toBe('stopped');
        await driver.start(id, spec);
        expect((await run(id, 'echo back')).stdout).toBe('back\n');
      });
    });

    test('moves between networks when it starts again', async () => {
      await withBox({ network: 'deny' }, async (id, spec) => {
        const cards = 'tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d " " | sort';
        expect((await run(id, cards)).stdout).toBe('lo\n');
        await driver.stop(id);
        await driver.start(id, { ...spec, network: policyOf('allow') });
        expect((await run(id, cards)).stdout).toBe('eth0\nlo\n');
        await driver.stop(id);
        await driver.start(id, { ...spec, network: policyOf('deny') });
        expect((await run(id, cards)).stdout).toBe('lo\n');
      });
    });
  });

  describe('the user of a box', () => {
    test('gets a name, a home and a writable folder in an image that has none', async () => {
      await withBox({}, async (id) => {
        const { stdout } = await run(id, 'id -un; id -gn; stat -c %u:%g ~ /workspace; echo $USER $LANG');
        expect(stdout).toBe('svc\nsvc\n1000:1000\n1000:1000\nsvc C.UTF-8\n');
      });
    });

    test('keeps the name that the image gives to its number', async () => {
      await withBox({}, async (id, spec) => {
        await run(id, 'sed -i s/^svc:/node:/ /etc/passwd', { uid: 0 });
        await driver.stop(id);
        await driver.start(id, spec);
        expect((await run(id, 'id -un; grep -c :1000: /etc/passwd')).stdout).toBe('node\n1\n');
      });
    });

    test('owns a folder that its spec names and the image lacks, and none that the image has', async () => {
      await withBox({ workDir: '/srv/app' }, async (id) => {
        expect((await run(id, 'pwd; stat -c %u /srv/app')).stdout).toBe('/srv/app\n1000\n');
      });
      await withBox({ workDir: '/etc' }, async (id) => {
        expect((await run(id, 'stat -c %u .')).stdout).toBe('0\n');
      });
    });
  });

  describe('a command', () => {
    test('keeps variables whose names no shell knows', async () => {
      await withBox({ env: { 'a.b': 'box' } }, async (id) => {
        const spec = { id: newId('cmd'), argv: ['env'] as [string], env: { 'npm_config_x-y': 'z' } };
        const { stdout } = await finish(await driver.exec(id, spec));
        expect(stdout).toContain('a.b=box\n');
        expect(stdout).toContain('npm_config_x-y=z\n');
      });
    });

    test('with a zero byte is refused before it starts', async () => {
      await withBox({}, async (id) => {
        const spec = { id: newId('cmd'), argv: ['echo', 'a\0b'] as [string, string] };
        await expect(driver.exec(id, spec)).rejects.toMatchObject({ code: 'invalid_argument' });
      });
    });

    test('whose output nobody reads does not hold up the ends of others', async () => {
      await withBox({}, async (id) => {
        const unread = await driver.exec(id, sh('head -c 2000000 /dev/zero; exit 4'));
        await Bun.sleep(200);
        const other = await within(run(id, 'exit 5'), 10_000);
        expect(other).toMatchObject({ exit: { code: 5 } });
        await unread.kill('SIGKILL');
      });
    });

    test.each(['SIGKILL', 'SIGTERM'] as const)(
      'is ended by a %s that comes before it has started',
      async (signal) => {
        await withBox({}, async (id) => {
          const execution = await driver.exec(id, { id: newId('cmd'), argv: ['sleep', '76100'] });
          await execution.kill(signal);
          expect(await within(execution.exited, 5_000)).toMatchObject({ signal });
          const detached = await driver.spawn(id, sh('sleep 76100'), join(dataDir, `${signal}.log`));
          await detached.kill(signal);
          expect(await within(detached.exited, 5_000)).toMatchObject({ signal });
          expect((await run(id, 'ps -o args | grep -c "^sleep 76100"')).stdout).toBe('0\n');
        });
      },
    );

    test('says why when the box has lost its shell', async () => {
      await withBox({}, async (id) => {
        await run(id, 'rm /bin/sh', { uid: 0 });
        const { exit } = await run(id, 'true');
        expect(exit.code).toBeOneOf([126, 127]);
        expect(exit.startError).toContain('/bin/sh');
      });
    });

    test('of an earlier daemon ends when the next one comes; a detached one goes on', async () => {
      await withBox({}, async (id) => {
        const owned = await driver.exec(id, sh('(setsid sleep 76001 &); sleep 76001'));
        const detached = await driver.spawn(id, sh('sleep 76002'), join(dataDir, 'takeover.log'));
        const sleepers = async () => (await run(id, 'ps -o args | grep -c "^sleep 7600"')).stdout;
        expect(await settle(sleepers, '3\n')).toBe('3\n');
        const next = newDriver();
        await finish(await next.exec(id, sh('true')));
        expect((await owned.exited).signal).toBe('SIGKILL');
        expect(await settle(sleepers, '1\n')).toBe('1\n');
        const found = await next.attach(id, detached.ref);
        await found?.kill('SIGKILL');
        expect(await found?.exited).toMatchObject({ code: 137 });
        await next.close();
      });
    });
  });

  describe('a background command', () => {
    test('tells its code when the engine has forgotten it', async () => {
      await withBox({}, async (id) => {
        const spec = sh('exit 9');
        const detached = await driver.spawn(id, spec, join(dataDir, 'forgotten.log'));
        await detached.exited;
        const forgotten = `${'0'.repeat(64)}.${spec.id}`;
        expect(await (await driver.attach(id, forgotten))?.exited).toEqual({ code: 9 });
        expect(await driver.attach(id, `${'0'.repeat(64)}.${newId('cmd')}`)).toBeUndefined();
      });
    });

    test('is followed by its processes when the engine has forgotten it while it runs', async () => {
      await withBox({}, async (id) => {
        const spec = sh('while [ ! -e /workspace/go ]; do sleep 0.05; done; exit 7');
        await driver.spawn(id, spec, join(dataDir, 'restored.log'));
        const forgotten = `${'0'.repeat(64)}.${spec.id}`;
        const find = () => driver.attach(id, forgotten);
        const found = await settleFound(find);
        expect(await within(found.exited, 1_500)).toBe('late');
        await run(id, 'touch /workspace/go');
        expect(await within(found.exited, 10_000)).toEqual({ code: 7 });
      });
    });

    test('writes to the file that its caller named, whatever the box does with its own names', async () => {
      const secret = join(dataDir, 'secret');
      await Bun.write(secret, 'of the host');
      await withBox({}, async (id) => {
        const logPath = join(dataDir, 'tampered.log');
        const spec = sh('echo one; while [ ! -e /workspace/go ]; do sleep 0.05; done; echo two');
        const detached = await driver.spawn(id, spec, logPath);
        const inBox = `/run/svc/${spec.id}`;
        await settle(() => readFile(logPath, 'utf8'), 'one\n');
        await run(id, `rm -f ${inBox}.log && ln -s /etc/passwd ${inBox}.log && mkfifo ${inBox}.exit`, {
          uid: 0,
        });
        await run(id, 'touch /workspace/go');
        await within(detached.exited, 2_000);
        expect((await stat(logPath)).isFile()).toBe(true);
        expect(await settle(() => readFile(logPath, 'utf8'), 'one\ntwo\n')).toBe('one\ntwo\n');
        expect(await driver.attach(id, `${'0'.repeat(64)}.${spec.id}`)).toBeUndefined();
        await detached.kill('SIGKILL');
      });
    });

    test('cannot make the host read a file of its own through the exchange folder', async () => {
      const secret = join(dataDir, 'secret-reason');
      await Bun.write(secret, 'of the host');
      await withBox({}, async (id) => {
        for (const trap of ['symlink', 'fifo', 'folder'] as const) {
          const spec = sh('exit 127');
          const note = join(exchange(id), `${spec.id}.error`);
          if (trap === 'symlink') await symlink(secret, note);
          else await run(id, `${trap === 'fifo' ? 'mkfifo' : 'mkdir'} /run/svc/${spec.id}.error`, { uid: 0 });
          const result = await within(run(id, 'exit 127', { id: spec.id }), 5_000);
          expect(result).toMatchObject({ exit: { code: 127 } });
          expect(JSON.stringify(result)).not.toContain('of the host');
        }
      });
    });

    test('cannot read or list what lies in the exchange folder as the user of the box', async () => {
      await withBox({}, async (id) => {
        const spec = sh('echo words; sleep 1000');
        const detached = await driver.spawn(id, spec, join(dataDir, 'unread.log'));
        expect((await run(id, 'ls /run/svc')).exit.code).not.toBe(0);
        expect((await run(id, `cat /run/svc/${spec.id}.log`)).stdout).toBe('');
        expect((await run(id, `rm -f /run/svc/${spec.id}.log`)).exit.code).not.toBe(0);
        await detached.kill('SIGKILL');
      });
    });

    test('takes no log that is a link', async () => {
      await withBox({}, async (id) => {
        const logPath = join(dataDir, 'link.log');
        await symlink('/etc/hostname', logPath);
        await expect(driver.spawn(id, sh('echo x'), logPath)).rejects.toThrow();
      });
    });
  });

  describe('an image', () => {
    test('named host is the default image, or an error that says so', async () => {
      await expect(driver.prepareImage('host')).rejects.toMatchObject({ code: 'image_not_found' });
      const other = newDriver({ defaultImage: image });
      expect(await other.prepareImage('host')).toMatchObject({ reference: 'host', workDir: '/workspace' });
    });

    test.each(['../containers/json?a', 'a b', 'x\0', '-v', 'a//b', 'https://x/y'])(
      '%j is no reference',
      async (reference) => {
        await expect(driver.prepareImage(reference)).rejects.toMatchObject({ code: 'image_not_found' });
      },
    );

    test('that is not here is not pulled when pulling is off', async () => {
      const other = newDriver({ pull: false });
      await expect(other.prepareImage('not-here:1')).rejects.toMatchObject({ code: 'image_not_found' });
    });

    test('without a shell cannot be a box, and leaves nothing', async () => {
      const tar = join(dataDir, 'empty.tar');
      await Bun.write(join(dataDir, 'empty/hello'), 'x');
      await Bun.spawn(['tar', '-C', join(dataDir, 'empty'), '-cf', tar, '.']).exited;
      const spec = boxSpec(tar);
      const made = driver.create(spec);
      await expect(made).rejects.toMatchObject({ code: 'failed_precondition' });
      await made.catch(() => {});
      expect((await driver.inspect(spec.id)).state).toBe('missing');
      expect(await Bun.file(join(dataDir, 'docker/boxes', spec.id, 'box.json')).exists()).toBe(false);
    });
  });

  describe('with dash and the GNU tools', () => {
    let debian = '';
    beforeAll(async () => {
      debian = (await engine?.debianImage()) ?? '';
    });

    test('a box starts, marks and kills its commands', async () => {
      await withBox({ image: debian }, async (id) => {
        expect((await run(id, 'id -un; basename $(readlink -f /bin/sh)')).stdout).toBe('svc\ndash\n');
        const tree = '(env -i setsid sleep 77001 &); sleep 77001';
        const execution = await driver.exec(id, sh(tree));
        const count = async () =>
          (await run(id, 'cat /proc/[0-9]*/cmdline | tr "\\0" " " | grep -o "[s]leep 77001" | wc -l')).stdout;
        await settle(count, '3\n');
        await execution.kill('SIGKILL');
        expect((await execution.exited).signal).toBe('SIGKILL');
        expect(await settle(count, '0\n')).toBe('0\n');
        const missing = await finish(await driver.exec(id, { id: newId('cmd'), argv: ['no-such-program'] }));
        expect(missing.exit).toEqual({ code: 127, startError: 'there is no program no-such-program' });
      });
    });

    test('a background command keeps its code and its output', async () => {
      await withBox({ image: debian }, async (id) => {
        const logPath = join(dataDir, 'dash.log');
        const detached = await driver.spawn(
          id,
          sh('echo out; trap "exit 3" TERM; sleep 1000 & wait'),
          logPath,
        );
        await settle(() => readFile(logPath, 'utf8').catch(() => ''), 'out\n');
        await detached.kill('SIGTERM');
        expect(await detached.exited).toEqual({ code: 3 });
        expect(await readFile(logPath, 'utf8')).toBe('out\n');
      });
    });
  });
});
