import { describe, expect, test } from 'bun:test';
import { mkdtemp, readdir, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '../../../../../src/kit/id.ts';
import { snapshotReference } from '../snapshot-reference.ts';
import { boxSpec, run, type Scene, sh, withBox } from './scene.ts';

/**
 * Lists every path of a folder with its type, mode, owner, links, time and target, and hashes every file; but not
 * those that an engine mounts itself.
 */
const LISTING = `cd "$1" || exit 1
set -- ! -name hosts ! -name resolv.conf ! -name hostname ! -name mtab
find . ! -type d "$@" -exec stat -c '%N %F %a %u %g %h %Y' {} + | LC_ALL=C sort
find . -type d -exec stat -c '%n %a %u %g' {} + | LC_ALL=C sort
find . -type f "$@" -exec md5sum {} + | LC_ALL=C sort`;

/** What a box has below some folders, as its root sees it. */
export async function listing(scene: Scene, box: string, ...folders: string[]): Promise<string> {
  const script = folders.map((folder) => `(set -- ${folder}; ${LISTING})`).join('\n');
  const { stdout, stderr, exit } = await run(scene, script, { uid: 0 }, box);
  expect({ stderr, code: exit.code }).toEqual({ stderr: '', code: 0 });
  return stdout;
}

const CHANGES = `set -e
cd /workspace
echo text >file; chmod 640 file; ln file linked; ln -s /etc/passwd link; ln -s nowhere dangling
mkdir -p deep/er; echo x >deep/er/y; chmod 700 deep
mkfifo pipe; chown 1000:33 file; printf 'a\\nb' >'new
line'; echo odd >"$(printf 'b\\377d')"
cp /bin/sh set-id; chmod 6755 set-id
dd if=/dev/zero of=sparse bs=1 count=1 seek=9999999 2>/dev/null
cat /etc/passwd >/etc/users; rm /etc/passwd; mv /etc/users /etc/passwd
for f in /etc/ld.so.conf /bin/vi; do [ ! -f $f ] || { rm $f; mkdir $f; echo now-a-folder >$f/x; }; done
rm -rf /home/svc; echo no-folder >/home/svc; rm /home/svc; mkdir /home/svc; echo new >/home/svc/only
chown 1000:1000 /home/svc; chmod 1777 /home; chmod 751 /
mkdir /opt 2>/dev/null || :; echo one >/opt/one`;

const FOLDERS = ['/workspace', '/etc', '/home', '/opt', '/bin/'];

/** Snapshots and archives. */
export function storageRules(scene: Scene): void {
  const withSnapshot = async (box: string, body: (snapshotId: string) => Promise<void>) => {
    const snapshotId = newId('snp');
    try {
      await scene.driver.snapshot(box, snapshotId);
      await body(snapshotId);
    } finally {
      await scene.driver.removeSnapshot(snapshotId);
    }
  };

  describe('a snapshot', () => {
    test('has every file of a running box as it was, and the box goes on', async () => {
      await withBox(scene, {}, async (id) => {
        expect(await run(scene, CHANGES, { uid: 0 }, id)).toMatchObject({ stderr: '', exit: { code: 0 } });
        const ticking = await scene.driver.exec(id, sh('while :; do echo >>/tmp/tick; sleep 0.01; done'));
        const before = await listing(scene, id, ...FOLDERS);
        await withSnapshot(id, async (snapshotId) => {
          const now = () => run(scene, 'wc -c </tmp/tick', {}, id).then(({ stdout }) => stdout);
          const tick = await now();
          await Bun.sleep(300);
          expect(await now()).not.toBe(tick);
          expect(await scene.driver.listSnapshots()).toContain(snapshotId);
          await run(scene, 'rm -rf /workspace/deep; echo later >/workspace/file', { uid: 0 }, id);
          await withBox(scene, { image: snapshotReference(snapshotId) }, async (copy) => {
            expect(await listing(scene, copy, ...FOLDERS)).toBe(before);
            expect((await run(scene, 'cat /workspace/linked', { uid: 0 }, copy)).stdout).toBe('text\n');
          });
        });
        await ticking.kill('SIGKILL');
      });
    });

    test('of a stopped box that stands on a snapshot has both', async () => {
      await withBox(scene, {}, async (id) => {
        await run(scene, 'mkdir a; echo 1 >a/one; echo 1 >gone; echo 1 >kept', {}, id);
        await withSnapshot(id, async (first) => {
          await withBox(scene, { image: snapshotReference(first) }, async (second) => {
            await run(scene, 'rm -r a gone; mkdir a; echo 2 >a/two', {}, second);
            await scene.driver.stop(second);
            await withSnapshot(second, async (both) => {
              await withBox(scene, { image: snapshotReference(both) }, async (third) => {
                const { stdout } = await run(scene, 'find . -type f | sort', {}, third);
                expect(stdout).toBe('./a/two\n./kept\n');
              });
            });
          });
        });
      });
    });

    test('that is removed leaves its boxes, which stop and start again; then its files go', async () => {
      await withBox(scene, {}, async (id) => {
        await run(scene, 'echo mine >here', {}, id);
        const snapshotId = newId('snp');
        await scene.driver.snapshot(id, snapshotId);
        const image = snapshotReference(snapshotId);
        await withBox(scene, { image }, async (copy, spec) => {
          await scene.driver.removeSnapshot(snapshotId);
          expect(await scene.driver.listSnapshots()).not.toContain(snapshotId);
          expect(scene.driver.create(boxSpec(image))).rejects.toMatchObject({ code: 'image_not_found' });
          await scene.driver.stop(copy);
          await scene.driver.start(copy, spec);
          expect((await run(scene, 'cat here', {}, copy)).stdout).toBe('mine\n');
          await withSnapshot(copy, async (next) => {
            await withBox(scene, { image: snapshotReference(next) }, async (other) => {
              expect((await run(scene, 'cat here', {}, other)).stdout).toBe('mine\n');
            });
          });
        });
      });
    });

    test('of a box that is not there, or under a name that is taken, is refused', async () => {
      const missing = newId('sbx');
      expect(scene.driver.snapshot(missing, newId('snp'))).rejects.toMatchObject({ code: 'not_found' });
      await withSnapshot(scene.box, async (snapshotId) => {
        expect(scene.driver.snapshot(scene.box, snapshotId)).rejects.toMatchObject({
          code: 'already_exists',
        });
      });
      await scene.driver.removeSnapshot(newId('snp'));
    });

    test('of an image makes boxes of it', async () => {
      const snapshotId = newId('snp');
      const { image } = await scene.driver.snapshotImage(scene.options.image, snapshotId);
      try {
        expect(image.id).toBe((await scene.driver.prepareImage(scene.options.image)).id);
        await withBox(scene, { image: snapshotReference(snapshotId) }, async (id) => {
          expect((await run(scene, 'pwd', {}, id)).stdout).toBe('/workspace\n');
        });
      } finally {
        await scene.driver.removeSnapshot(snapshotId);
      }
    });
  });

  describe('an archive', () => {
    test('makes the box again as it was, also when what it stands on was removed', async () => {
      await withBox(scene, {}, async (first) => {
        await run(scene, 'echo below >below; echo gone >gone', {}, first);
        const snapshotId = newId('snp');
        await scene.driver.snapshot(first, snapshotId);
        await withBox(scene, { image: snapshotReference(snapshotId), env: { A: '1' } }, async (id, spec) => {
          expect(await run(scene, CHANGES, { uid: 0 }, id)).toMatchObject({ stderr: '', exit: { code: 0 } });
          await run(scene, 'rm gone', {}, id);
          const before = await listing(scene, id, ...FOLDERS);
          const file = join(scene.dataDir, 'box.tar.zst');
          expect(scene.driver.archive(id, file)).rejects.toMatchObject({ code: 'failed_precondition' });
          await scene.driver.stop(id);
          const { sizeBytes } = await scene.driver.archive(id, file);
          expect(await stat(file)).toMatchObject({ size: sizeBytes });
          expect((await stat(file)).mode & 0o777).toBe(0o600);
          expect(scene.driver.unarchive(spec, file)).rejects.toMatchObject({ code: 'already_exists' });
          await scene.driver.remove(id);
          await scene.driver.removeSnapshot(snapshotId);
          await scene.driver.unarchive(spec, file);
          expect((await scene.driver.inspect(id)).state).toBe('stopped');
          await scene.driver.start(id, spec);
          expect(await listing(scene, id, ...FOLDERS)).toBe(before);
          expect((await run(scene, 'echo $A', {}, id)).stdout).toBe('1\n');
        });
      });
    });

    test('that is missing makes nothing', async () => {
      const spec = boxSpec(scene.options.image);
      const file = join(scene.dataDir, 'none.tar.zst');
      expect(scene.driver.unarchive(spec, file)).rejects.toMatchObject({ code: 'not_found' });
      expect((await scene.driver.inspect(spec.id)).state).toBe('missing');
    });
  });

  describe('a mounted folder', () => {
    const withFolder = async (body: (source: string) => Promise<void>) => {
      const source = await mkdtemp(join(scene.dataDir, 'folder-'));
      await body(source);
    };

    test('is shared by running boxes, belongs to their user, and outlives them', async () => {
      await withFolder(async (source) => {
        const mounts = [{ source, target: '/data/shared' }];
        await withBox(scene, { mounts }, async (first, spec) => {
          expect(
            (await run(scene, 'stat -c %u:%g /data/shared; echo 1 >/data/shared/a', {}, first)).stdout,
          ).toBe('1000:1000\n');
          await withBox(scene, { mounts }, async (second) => {
            expect((await run(scene, 'cat /data/shared/a; echo 2 >/data/shared/b', {}, second)).stdout).toBe(
              '1\n',
            );
          });
          await scene.driver.stop(first);
          await scene.driver.start(first, spec);
          expect((await run(scene, 'cat /data/shared/b', {}, first)).stdout).toBe('2\n');
        });
        expect((await readdir(source)).sort()).toEqual(['a', 'b']);
      });
    });

    test('can be read-only, and a folder below it is made', async () => {
      await withFolder(async (source) => {
        const mounts = [
          { source, target: '/ro', readOnly: true },
          { source, subpath: 'sub/folder', target: '/workspace/rw' },
        ];
        await withBox(scene, { mounts }, async (id) => {
          const script =
            'echo x >/ro/x 2>/dev/null || echo refused; echo y >/workspace/rw/y; ls /ro/sub/folder';
          expect((await run(scene, script, {}, id)).stdout).toBe('refused\ny\n');
          expect(
            (await run(scene, 'grep -E " (/ro|/workspace/rw) " /proc/mounts | wc -l', {}, id)).stdout.trim(),
          ).toBe('2');
        });
      });
    });

    test('is not reached through a link that a box has put in the way', async () => {
      await withFolder(async (source) => {
        await symlink('/etc', join(source, 'link'));
        const spec = boxSpec(scene.options.image, { mounts: [{ source, subpath: 'link', target: '/data' }] });
        expect(scene.driver.create(spec)).rejects.toMatchObject({ code: 'invalid_argument' });
        expect((await scene.driver.inspect(spec.id)).state).toBe('missing');
      });
    });

    test('is no part of a snapshot', async () => {
      await withFolder(async (source) => {
        await withBox(scene, { mounts: [{ source, target: '/data' }] }, async (id) => {
          await run(scene, 'echo mine >/data/mine', {}, id);
          await withSnapshot(id, async (snapshotId) => {
            await withBox(scene, { image: snapshotReference(snapshotId) }, async (copy) => {
              expect((await run(scene, 'ls /data', {}, copy)).stdout).toBe('');
            });
          });
        });
      });
    });

    test.each(['/', '/proc', '/proc/x', '/sys', '/dev/shm', '/.svc', 'data', '/a/../b', '/a//b', '/a/'])(
      'is refused at %s',
      async (target) => {
        const spec = boxSpec(scene.options.image, { mounts: [{ source: scene.dataDir, target }] });
        expect(scene.driver.create(spec)).rejects.toMatchObject({ code: 'invalid_argument' });
        expect((await scene.driver.inspect(spec.id)).state).toBe('missing');
      },
    );
  });
}
