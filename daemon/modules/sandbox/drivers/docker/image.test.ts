import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { dockerdMissing, startDockerd } from '../../../../../test/support/dockerd.ts';
import { busyboxRootfs } from '../../../../../test/support/rootfs.ts';
import type { ImageProgress } from '../driver.ts';
import { connectEngine } from './engine.ts';
import { Images } from './image.ts';
import { archiveKind } from './image-archive.ts';
import { PullMeter, withTag } from './image-pull.ts';
import { namesOf } from './names.ts';

const skip = dockerdMissing();
const engine = skip ? undefined : await startDockerd();
const dir = await mkdtemp(join(tmpdir(), 'svc-docker-image-'));

afterAll(async () => {
  await engine?.stop();
  await rm(dir, { recursive: true, force: true });
});

describe.skipIf(skip !== undefined)('an image from a file', () => {
  const images = new Images(connectEngine(engine?.socket), { pull: false }, namesOf('test'));
  let plain = new Uint8Array();

  beforeAll(async () => {
    plain = await Bun.file(await busyboxRootfs()).bytes();
  });

  test.each([
    ['plain', (bytes: Uint8Array) => bytes],
    ['gzip', (bytes: Uint8Array) => Bun.gzipSync(bytes as Uint8Array<ArrayBuffer>)],
    ['zstd', (bytes: Uint8Array) => Bun.zstdCompressSync(bytes)],
  ])('that is a root file system (%s) is brought in once', async (name, pack) => {
    const path = join(dir, `${name}.tar`);
    await Bun.write(path, pack(plain));
    expect(await archiveKind(path)).toBe('rootfs');
    const steps: ImageProgress[] = [];
    const first = await images.prepare(path, (step) => steps.push(step));
    expect(first).toMatchObject({ reference: path, workDir: '/workspace' });
    expect(steps).toEqual([{ step: 'unpack', done: 0, total: 0 }]);
    expect(await images.prepare(path, (step) => steps.push(step))).toEqual(first);
    expect(steps).toHaveLength(1);
  });

  test('that was saved from an engine keeps its environment and its folder', async () => {
    const { client } = connectEngine(engine?.socket);
    const container = await client.createContainer({ Image: engine?.image, Cmd: ['true'] });
    const made = await container.commit({
      repo: 'svc-test/made',
      tag: '1',
      changes: 'ENV A=x=y\nWORKDIR /srv',
    });
    const path = join(dir, 'saved.tar');
    const saved = (await client.getImage('svc-test/made:1').get()) as unknown as Readable;
    await Bun.write(path, Buffer.concat(await Array.fromAsync(saved)));
    await client.getImage('svc-test/made:1').remove();
    await container.remove();
    expect(await archiveKind(path)).toBe('images');
    const image = await images.prepare(path);
    expect(image).toMatchObject({ id: made.Id, workDir: '/srv' });
    expect(image.env.A).toBe('x=y');
  });

  test('is another one when the file was written anew', async () => {
    const path = join(dir, 'changing.tar');
    await Bun.write(path, plain);
    const first = await images.prepare(path);
    await Bun.write(path, plain);
    expect((await images.prepare(path)).reference).toBe(first.reference);
    await Bun.write(path, 'no tar any more');
    await expect(images.prepare(path)).rejects.toMatchObject({ code: 'image_not_found' });
  });

  test.each([
    ['is no tar', 'words'],
    ['is empty', ''],
    ['is cut', '\x1f\x8b\x08'],
  ])('that %s is an error that says so', async (name, bytes) => {
    const path = join(dir, `${name}.tar`);
    await Bun.write(path, Buffer.from(bytes, 'latin1'));
    await expect(images.prepare(path)).rejects.toMatchObject({ code: 'image_not_found' });
  });

  test('is brought in once for callers that come together', async () => {
    const path = join(dir, 'together.tar');
    await Bun.write(path, plain);
    const steps: ImageProgress[] = [];
    const all = await Promise.all([1, 2, 3].map(() => images.prepare(path, (step) => steps.push(step))));
    expect(new Set(all.map(({ id }) => id)).size).toBe(1);
    expect(steps).toHaveLength(1);
  });
});

describe('a pull', () => {
  test.each([
    ['debian', 'debian:latest'],
    ['debian:12', 'debian:12'],
    ['localhost:5000/a/b', 'localhost:5000/a/b:latest'],
    ['localhost:5000/a/b:1', 'localhost:5000/a/b:1'],
    [`a@sha256:${'0'.repeat(64)}`, `a@sha256:${'0'.repeat(64)}`],
  ])('of %s asks for %s', (reference, wanted) => {
    expect(withTag(reference)).toBe(wanted);
  });

  test('adds its layers up', () => {
    const meter = new PullMeter();
    const take = (id: string, current: number, total: number) =>
      meter.take('x', { status: 'Downloading', id, progressDetail: { current, total } });
    expect(meter.take('x', { status: 'Pulling fs layer', id: 'a' })).toBeUndefined();
    expect(take('a', 10, 100)).toEqual({ step: 'download', done: 10, total: 100 });
    expect(take('b', 5, 50)).toEqual({ step: 'download', done: 15, total: 150 });
    expect(take('a', 100, 100)).toEqual({ step: 'download', done: 105, total: 150 });
    const unpack = { status: 'Extracting', id: 'a', progressDetail: { current: 1, total: 2 } };
    expect(meter.take('x', unpack)).toEqual({ step: 'unpack', done: 1, total: 2 });
  });

  /** An engine that has one image after it was asked for it. What it says is what Docker 20.10 says. */
  async function withFakeEngine(
    answer: () => Response,
    body: (images: Images, asked: string[]) => Promise<void>,
  ): Promise<void> {
    const socket = join(dir, `${crypto.randomUUID().slice(0, 8)}.sock`);
    const asked: string[] = [];
    const server = Bun.serve({
      unix: socket,
      fetch: (request) => {
        const url = new URL(request.url);
        if (request.method === 'POST') {
          asked.push(url.search);
          return answer();
        }
        if (asked.length === 0) return Response.json({ message: 'No such image' }, { status: 404 });
        return Response.json({ Id: 'sha256:1', Config: { Env: ['A=1'], WorkingDir: '' } });
      },
    });
    try {
      await body(new Images(connectEngine(socket), {}, namesOf('test')), asked);
    } finally {
      await server.stop(true);
    }
  }

  const lines = (...values: object[]) =>
    new Response(values.map((value) => `${JSON.stringify(value)}\r\n`).join(''));

  test('tells its progress and gives the image', async () => {
    const progressDetail = { current: 3, total: 4 };
    const answer = () => lines({ status: 'Pulling' }, { status: 'Downloading', id: 'a', progressDetail });
    await withFakeEngine(answer, async (images, asked) => {
      const steps: ImageProgress[] = [];
      const image = await images.prepare('there/is:1', (step) => steps.push(step));
      expect(image).toMatchObject({ reference: 'there/is:1', id: 'sha256:1', env: { A: '1' } });
      expect(asked).toEqual([expect.stringContaining('fromImage=there%2Fis')]);
      expect(asked[0]).toContain('tag=1');
      expect(steps).toEqual([
        { step: 'resolve', done: 0, total: 0 },
        { step: 'download', done: 3, total: 4 },
      ]);
    });
  });

  test.each([
    [
      'that names nothing',
      () => Response.json({ message: 'manifest unknown' }, { status: 404 }),
      'image_not_found',
    ],
    ['that breaks on the way', () => lines({ status: 'x' }, { error: 'unexpected EOF' }), 'image_not_found'],
    ['that fills the disk', () => lines({ error: 'write: no space left on device' }), 'disk_full'],
    ['that the engine cannot do', () => Response.json({ message: 'boom' }, { status: 500 }), 'unavailable'],
  ] as const)('%s is an error of its own', async (_, answer, code) => {
    await withFakeEngine(answer, async (images) => {
      await expect(images.prepare('there/is:1')).rejects.toMatchObject({ code });
    });
  });

  test('that is called off says so', async () => {
    const never = () =>
      new Response(new ReadableStream({ start: (stream) => stream.enqueue('{"status":"x"}\n') }));
    await withFakeEngine(never, async (images) => {
      const stop = new AbortController();
      setTimeout(() => stop.abort(), 100);
      await expect(images.prepare('there/is:1', undefined, stop.signal)).rejects.toMatchObject({
        code: 'cancelled',
      });
    });
  });
});
