import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ImageProgress } from '../drivers/driver.ts';
import { idRangeOf } from '../drivers/host/user-namespace.ts';
import { whyUnusable } from '../drivers/namespace/probe.ts';
import { IMAGE_BOUNDS, type ImageBounds, type StoredImage } from './image.ts';
import { createImageStore, type ImageStore } from './store.ts';
import { asLayout, asSaved, type ImageRecipe, makeImage } from './testing/image-files.ts';
import { startRegistry } from './testing/registry-process.ts';
import type { RegistryPlan } from './testing/registry-server.ts';
import { makeTar, type Wanted } from './testing/tars.ts';

const QUIET = { progress: () => {} };
const RECIPE: ImageRecipe = {
  env: ['PATH=/bin', 'A=b=c', 'BROKEN'],
  workDir: '/srv/app',
  layers: [
    [
      { path: 'etc', kind: 'directory' },
      { path: 'etc/passwd', content: 'root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\n' },
      { path: 'etc/old', content: 'old' },
      { path: 'data', kind: 'directory', uid: 1000, gid: 1000 },
      { path: 'data/a', content: 'a' },
    ],
    [
      { path: 'etc/.wh.old' },
      { path: 'data/.wh..wh..opq' },
      { path: 'data/b', content: 'b', mode: 0o4755, uid: 33 },
    ],
  ],
};

describe.skipIf(whyUnusable('t') !== undefined)('the image store', () => {
  let dir = '';
  const range = idRangeOf('image-test');
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'svc-images-'));
    await chmod(dir, 0o700);
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  async function open(
    bounds: Partial<ImageBounds> = {},
    name = 'images',
    init = 'init',
  ): Promise<ImageStore> {
    return createImageStore({
      images: join(dir, name),
      dataDir: dir,
      shiftDir: join(dir, 'shifted'),
      range,
      files: [{ path: '.svc/init', content: init, mode: 0o755 }],
      fetch: (url, init) => fetch(url, init),
      bounds: { ...IMAGE_BOUNDS, ...bounds },
    });
  }

  async function archive(name: string, bytes: Uint8Array): Promise<string> {
    await writeFile(join(dir, name), bytes);
    return join(dir, name);
  }

  const layersOf = ({ mounts }: StoredImage, name = 'images') =>
    mounts.flatMap(({ lowers }) => lowers).map((lower) => join(dir, name, lower));

  /** Nothing is kept that no image needs. */
  async function leftovers(name: string): Promise<string[]> {
    const found = await readdir(join(dir, name), { recursive: true }).catch(() => []);
    return found.filter(
      (path) => path.includes('part-') || path.includes('blob-') || path.startsWith('refs/'),
    );
  }

  async function expectRecipe(image: StoredImage, name = 'images'): Promise<void> {
    const [base = '', top = '', bottom = ''] = layersOf(image, name);
    expect(image.info.env).toEqual({ PATH: '/bin', A: 'b=c' });
    expect(image.info.workDir).toBe('/srv/app');
    expect(await readFile(join(bottom, 'etc/old'), 'utf8')).toBe('old');
    const whiteout = await lstat(join(top, 'etc/old'));
    expect([whiteout.isCharacterDevice(), whiteout.rdev]).toEqual([true, 0]);
    const opaque = Bun.spawnSync([
      'python3',
      '-c',
      'import os,sys;print(os.getxattr(sys.argv[1],"trusted.overlay.opaque"))',
      join(top, 'data'),
    ]);
    expect(opaque.stdout.toString().trim()).toBe("b'y'");
    const owned = await lstat(join(top, 'data/b'));
    expect([owned.uid, owned.mode & 0o7777]).toEqual([range.base + 33, 0o4755]);
    expect((await lstat(join(bottom, 'data'))).uid).toBe(range.base + 1000);
    expect((await lstat(bottom)).uid).toBe(range.base);
    expect(await readFile(join(base, 'etc/passwd'), 'utf8')).toEndWith(':1000:1000::/home/node:/bin/sh\n');
    expect(await readFile(join(base, '.svc/init'), 'utf8')).toBe('init');
    expect((await lstat(join(base, 'workspace'))).uid).toBe(range.base + 1000);
  }

  test.each([
    ['an OCI layout', 'layout.tar', () => asLayout(makeImage(RECIPE))],
    [
      'an OCI layout with zstd layers',
      'zstd.tar',
      () => asLayout(makeImage({ ...RECIPE, compression: 'zstd' })),
    ],
    ['an archive of docker save', 'saved.tar', () => asSaved(makeImage({ ...RECIPE, compression: 'none' }))],
    [
      'a gzipped archive',
      'saved.tar.gz',
      () => Bun.gzipSync(Buffer.from(asSaved(makeImage({ ...RECIPE, compression: 'none' })))),
    ],
    ['a zstd archive', 'layout.tar.zst', () => Bun.zstdCompressSync(asLayout(makeImage(RECIPE)))],
  ])('takes %s', async (_, name, make) => {
    const path = await archive(name, make());
    const store = await open();
    const image = await store.prepare(path, QUIET);
    expect(image.info.reference).toBe(path);
    expect(image.info.id).toStartWith('sha256:');
    await expectRecipe(image);
    expect(await store.prepare(path, QUIET)).toEqual(image);
    expect(await (await open()).prepare(path, QUIET)).toEqual(image);
    expect(await leftovers('images')).not.toContainEqual(expect.stringContaining('part-'));
  });

  test('takes a plain root file system, and takes it anew when the file has changed', async () => {
    const path = await archive(
      'root.tar',
      makeTar([
        { path: './bin/', kind: 'directory' },
        { path: './bin/x', content: '1' },
      ]),
    );
    const store = await open();
    const first = await store.prepare(path, QUIET);
    expect(first.info.workDir).toBe('/workspace');
    expect(await readFile(join(layersOf(first)[1] ?? '', 'bin/x'), 'utf8')).toBe('1');
    await archive('root.tar', makeTar([{ path: './bin/x', content: 'two' }]));
    const second = await store.prepare(path, QUIET);
    expect(second.info.id).not.toBe(first.info.id);
    expect(await readFile(join(layersOf(second)[1] ?? '', 'bin/x'), 'utf8')).toBe('two');
  });

  test('gives an image that an earlier version kept the files of this one, without unpacking it again', async () => {
    const path = await archive('kept.tar', makeTar([{ path: 'file', content: 'x' }]));
    const [oldBase, ...layers] = layersOf(await (await open({}, 'kept')).prepare(path, QUIET), 'kept');
    const image = await (await open({}, 'kept', 'newer init')).prepare(path, QUIET);
    const [base = '', ...same] = layersOf(image, 'kept');
    expect(same).toEqual(layers);
    expect(base).not.toBe(oldBase ?? '');
    expect(await readFile(join(base, '.svc/init'), 'utf8')).toBe('newer init');
  });

  test('gives a service user to an image that has none, and no folder twice to an overlay', async () => {
    const layer: Wanted[] = [{ path: 'etc/passwd', content: 'root:x:0:0::/root:/bin/sh' }];
    const path = await archive('twice.tar', asLayout(makeImage({ layers: [layer, [{ path: 'x' }], layer] })));
    const layers = layersOf(await (await open()).prepare(path, QUIET));
    expect(layers).toHaveLength(3);
    const passwd = await readFile(join(layers[0] ?? '', 'etc/passwd'), 'utf8');
    expect(passwd).toBe('root:x:0:0::/root:/bin/sh\nsvc:x:1000:1000:svc:/home/svc:/bin/sh\n');
  });

  test('does not follow links of an image to the accounts of this host', async () => {
    const path = await archive('links.tar', makeTar([{ path: 'etc', kind: 'symlink', link: '/etc' }]));
    const [base = ''] = layersOf(await (await open()).prepare(path, QUIET));
    expect(await readFile(join(base, 'etc/passwd'), 'utf8')).not.toContain('/root:/bin/bash');
    const direct = await archive(
      'link.tar',
      makeTar([{ path: 'etc/passwd', kind: 'symlink', link: '/etc/shadow' }]),
    );
    const [other = ''] = layersOf(await (await open()).prepare(direct, QUIET));
    expect(await readFile(join(other, 'etc/passwd'), 'utf8')).toContain('svc:x:1000');
  });

  test.each<[string, Wanted[], Partial<ImageBounds>, string]>([
    ['climbs out', [{ path: '../../escaped', content: 'x' }], {}, 'leads out'],
    [
      'writes through a link',
      [{ path: 'l', kind: 'symlink', link: '/tmp' }, { path: 'l/escaped' }],
      {},
      'goes through a link',
    ],
    ['links to what is not there', [{ path: 'h', kind: 'hardlink', link: 'missing' }], {}, 'tar failed'],
    [
      'is larger than allowed',
      [{ path: 'big', content: 'x'.repeat(50_000) }],
      { layerBytes: 20_000 },
      'more than 20000 bytes',
    ],
    [
      'has more entries than allowed',
      [{ path: 'a' }, { path: 'b' }],
      { layerEntries: 1 },
      'more than 1 entries',
    ],
  ])('refuses an archive that %s, and keeps nothing of it', async (_, entries, bounds, why) => {
    const path = await archive('bad.tar', makeTar([{ path: 'usr', kind: 'directory' }, ...entries]));
    const store = await open(bounds, 'bad-images');
    const error = await store.prepare(path, QUIET).catch((it) => it);
    expect(error).toMatchObject({ code: 'image_not_found' });
    expect(error.message).toContain(why);
    expect(await leftovers('bad-images')).toEqual([]);
    expect(await readdir(join(dir, 'bad-images/layers')).catch(() => [])).toEqual([]);
    expect(await readdir(dir)).not.toContain('escaped');
  });

  test('unpacks as a user that may write nothing else on this host', async () => {
    const canary = join(dir, 'canary');
    await mkdir(canary, { mode: 0o777 });
    await chmod(canary, 0o777);
    const up = '../'.repeat(12);
    const tar = makeTar([
      { path: 'd', kind: 'directory', mode: 0o777 },
      { path: 'd/up', kind: 'symlink', link: `${up}${canary.slice(1)}` },
      { path: 'd/abs', kind: 'symlink', link: canary },
      { path: 'd/own', uid: 0, mode: 0o4777, content: 'x' },
    ]);
    const image = await (await open()).prepare(await archive('canary.tar', tar), QUIET);
    const own = await lstat(join(layersOf(image)[1] ?? '', 'd/own'));
    expect(own.uid).toBe(range.base);
    expect(await readdir(canary)).toEqual([]);
  });

  test.each([
    ['/nonexistent/image.tar', 'there is no such file'],
    ['not a reference', 'neither an absolute path nor the name'],
    ['127.0.0.1:1/app', 'cannot be reached'],
    ['/etc', 'it is not a file'],
    ['/etc/passwd', 'not a tar archive'],
  ])('says of %s why it cannot be had', async (reference, why) => {
    const error = await (await open()).prepare(reference, QUIET).catch((it) => it);
    expect(error).toMatchObject({ code: 'image_not_found' });
    expect(error.message).toContain(why);
  });

  describe('with a registry', () => {
    async function pull(plan: RegistryPlan, name: string, login = false, reference = 'team/app:1') {
      const registry = await startRegistry(plan);
      const progress: ImageProgress[] = [];
      const store = createImageStore({
        images: join(dir, name),
        dataDir: dir,
        shiftDir: join(dir, 'shifted'),
        range,
        files: [{ path: '.svc/init', content: 'init' }],
        fetch: (url, init) => fetch(url, init),
        login: () => (login ? { username: 'me', password: 'secret' } : undefined),
      });
      try {
        const watch = { progress: (step: ImageProgress) => progress.push(step) };
        const image = await store.prepare(`${registry.host}/${reference}`, watch);
        return { image, progress, registry, store };
      } finally {
        await registry.stop();
      }
    }

    test.each<[string, RegistryPlan, boolean]>([
      ['openly', { image: RECIPE }, false],
      ['with zstd layers', { image: { ...RECIPE, compression: 'zstd' } }, false],
      ['with a token for anybody', { image: RECIPE, auth: 'anonymous' }, false],
      ['with a token for a login', { image: RECIPE, auth: 'password' }, true],
      [
        'from another host, which never sees the token',
        { image: RECIPE, auth: 'anonymous', redirectBlobs: true },
        false,
      ],
    ])('pulls an image %s', async (how, plan, login) => {
      const name = `registry-${how.length}`;
      const { image, progress, registry, store } = await pull(plan, name, login);
      expect(image.info.id).toBe(registry.manifestDigest);
      await expectRecipe(image, name);
      const download = progress.filter(({ step }) => step === 'download');
      expect(download.at(-1)?.done).toBe(download.at(-1)?.total as number);
      expect(await store.prepare(image.info.reference, QUIET)).toEqual(image);
      expect((await leftovers(name)).filter((path) => !path.startsWith('refs/'))).toEqual([]);
    });

    test('pulls by digest', async () => {
      const { manifestDigest } = makeImage(RECIPE);
      const { image } = await pull({ image: RECIPE }, 'by-digest', false, `team/app@${manifestDigest}`);
      await expectRecipe(image, 'by-digest');
    });

    test.each<[NonNullable<RegistryPlan['fault']>, string]>([
      ['corrupt', 'another digest'],
      ['short', 'shorter than announced'],
      ['long', 'longer than announced'],
      ['fail-second-layer', 'answers with 500'],
    ])('keeps no image when a blob is %s', async (fault, why) => {
      const name = `fault-${fault}`;
      const error = await pull({ image: RECIPE, fault }, name).catch((it) => it);
      expect(error).toMatchObject({ code: 'image_not_found' });
      expect(error.message).toContain(why);
      expect(await leftovers(name)).toEqual([]);
    });

    test('keeps the layers that were whole, and goes on from there', async () => {
      await pull({ image: RECIPE, fault: 'fail-second-layer' }, 'resume').catch(() => {});
      expect(await readdir(join(dir, 'resume/layers'))).toHaveLength(1);
      const { image, progress } = await pull({ image: RECIPE }, 'resume');
      await expectRecipe(image, 'resume');
      expect(progress.findLast(({ step }) => step === 'unpack')?.total).toBe(1);
    });

    test('refuses without a login what wants one, and a name that is not there', async () => {
      const closed = await pull({ image: RECIPE, auth: 'password' }, 'closed').catch((it) => it);
      expect(closed.message).toContain('without a login');
      const missing = await pull({ image: RECIPE }, 'missing', false, 'team/app:2').catch((it) => it);
      expect(missing.message).toContain('has no team/app 2');
    });

    test('can be called off, and leaves nothing', async () => {
      const registry = await startRegistry({ image: RECIPE });
      const abort = new AbortController();
      const store = await open({}, 'aborted');
      const watch = { progress: () => abort.abort(), signal: abort.signal };
      const error = await store.prepare(`${registry.host}/team/app:1`, watch).catch((it) => it);
      await registry.stop();
      expect(error).toMatchObject({ code: 'cancelled' });
      expect(await leftovers('aborted')).toEqual([]);
    });
  });
});
