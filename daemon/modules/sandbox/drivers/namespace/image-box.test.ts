import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { asLayout, makeImage } from '../../images/testing/image-files.ts';
import { shellRoot } from '../../images/testing/shell-root.ts';
import { run, withBox } from '../conformance/scene.ts';
import { whyUnusable } from './probe.ts';
import { openPlace, type Place } from './testing/place.ts';

describe.skipIf(whyUnusable('t') !== undefined)('a box of an image with layers', () => {
  let place: Place;
  let image = '';
  beforeAll(async () => {
    place = await openPlace();
    image = join(place.dataDir, 'image.tar');
    const base = [
      ...shellRoot(),
      { path: 'etc', kind: 'directory' as const },
      { path: 'etc/old', content: 'old' },
      { path: 'data', kind: 'directory' as const, uid: 1000, gid: 1000 },
      { path: 'data/below', content: 'below' },
      { path: 'secret', content: 'x', mode: 0o600, uid: 33 },
    ];
    const top = [
      { path: 'etc/.wh.old' },
      { path: 'data/.wh..wh..opq' },
      { path: 'data', kind: 'directory' as const, uid: 1000, gid: 1000 },
      { path: 'data/above', content: 'above', uid: 1000, gid: 1000 },
      { path: 'bin/again', kind: 'symlink' as const, link: '/bin/cat' },
    ];
    await writeFile(
      image,
      asLayout(makeImage({ layers: [base, top], env: ['PATH=/bin', 'FROM=image'], workDir: '/data' })),
    );
    await place.driver.prepareImage(image);
  }, 60_000);
  afterAll(() => place.close(), 60_000);

  test('has the files of all layers, without those that an upper one took away', async () => {
    await withBox(place, { image }, async (id) => {
      const { stdout } = await run(place, 'ls /etc /data; again /data/above', {}, id);
      expect(stdout).toContain('above');
      expect(stdout).not.toContain('below');
      expect(stdout).not.toMatch(/^old$/m);
    });
  });

  test('has the environment and the directory of the image, which the box may override', async () => {
    await withBox(place, { image, env: { FROM: 'box' } }, async (id) => {
      expect((await run(place, 'echo $FROM; pwd', {}, id)).stdout).toBe('box\n/data\n');
    });
    await withBox(place, { image, workDir: '/workspace' }, async (id) => {
      expect((await run(place, 'echo $FROM; pwd', {}, id)).stdout).toBe('image\n/workspace\n');
    });
  });

  test('has owners as in the image, and they count', async () => {
    await withBox(place, { image }, async (id) => {
      expect((await run(place, 'stat -c %u:%g /secret /data/above /bin', {}, id)).stdout).toBe(
        '33:0\n1000:1000\n0:0\n',
      );
      expect((await run(place, 'cat /secret', {}, id)).exit.code).not.toBe(0);
      expect((await run(place, 'cat /secret', { uid: 33 }, id)).stdout).toBe('x');
      expect((await run(place, 'echo more >/data/above; echo $?', {}, id)).stdout).toBe('0\n');
    });
  });

  test('keeps what it changed over a stop', async () => {
    await withBox(place, { image }, async (id, spec) => {
      await run(place, 'echo kept >/data/new; echo > /data/above', {}, id);
      await place.driver.stop(id);
      await place.driver.start(id, spec);
      expect((await run(place, 'cat /data/new', {}, id)).stdout).toBe('kept\n');
    });
  });
});
