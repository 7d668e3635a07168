import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { newId } from '../../../../../../src/kit/id.ts';
import { boxSpec, run, withBox } from '../../conformance/scene.ts';
import { snapshotReference } from '../../snapshot-reference.ts';
import { whyUnusable } from '../probe.ts';
import { openPlace, type Place } from '../testing/place.ts';

/** Random histories of a tree that are tried. */
const RUNS = Number(process.env.SVC_TEST_TREES ?? 6);

const names = fc.constantFrom('a', 'b', 'c', 'x y', 'é');
const path = fc.array(names, { minLength: 1, maxLength: 3 }).map((parts) => `'${parts.join('/')}'`);
const mode = fc.constantFrom('600', '755', '4755', '2770', '1777', '000');

/** One change of a tree, as a line for sh. Many fail, as paths are taken or missing: that is fine. */
const change = fc.oneof(
  fc.tuple(path, fc.nat(9)).map(([at, n]) => `[ -p ${at} ] || echo ${n} >>${at}`),
  fc.tuple(path, fc.nat(9)).map(([at, n]) => `[ -p ${at} ] || echo ${n} >${at}`),
  path.map((at) => `mkdir -p ${at}`),
  path.map((at) => `rm -rf ${at}`),
  path.map((at) => `rm -rf ${at}; mkdir -p ${at}; echo anew >${at}/a`),
  path.map((at) => `rm -rf ${at}; echo file >${at}`),
  path.map((at) => `mkfifo ${at}`),
  path.map((at) => `[ -p ${at} ] || truncate -s 100000 ${at}`),
  path.map((at) => `touch -h -d @1000000000.123456789 ${at}`),
  fc.tuple(path, mode).map(([at, mode]) => `chmod ${mode} ${at}`),
  fc.tuple(path, fc.constantFrom('0:0', '1000:1000', '33:5')).map(([at, owner]) => `chown -h ${owner} ${at}`),
  fc.tuple(path, path).map(([from, to]) => `mv -T ${from} ${to}`),
  fc.tuple(path, path).map(([from, to]) => `ln ${from} ${to}`),
  fc.tuple(path, path).map(([to, at]) => `ln -sn ${to} ${at}`),
);
const changes = fc.array(change, { minLength: 5, maxLength: 40 });

const LIST = `cd /srv && find . -printf '%p %y %m %U:%G %T@ %l ' \\( -type d -o -printf '%n %s' \\) -printf '\\n' | LC_ALL=C sort
find . -type f -exec md5sum {} + | LC_ALL=C sort; stat -c '%a %u %g' /`;

describe.skipIf(whyUnusable('probe') !== undefined)('snapshots of the namespace driver', () => {
  setDefaultTimeout(600_000);
  let place: Place;
  beforeAll(async () => {
    place = await openPlace();
  });
  afterAll(() => place.close());

  const root = async (box: string, script: string) => {
    const { stdout, exit } = await run(place, script, { uid: 0 }, box);
    expect(exit.code).toBe(0);
    return stdout;
  };
  const apply = (box: string, lines: readonly string[]) =>
    root(box, `cd /srv\n{\n${lines.join('\n')}\n} >/dev/null 2>&1\n:`);
  const withSnapshot = async (box: string, body: (image: string) => Promise<void>) => {
    const id = newId('snp');
    await place.driver.snapshot(box, id);
    try {
      await body(snapshotReference(id));
    } finally {
      await place.driver.removeSnapshot(id);
    }
  };

  test('a tree is the same after a snapshot, one on top of it, an archive and its return', async () => {
    const file = join(place.dataDir, 'tree.tar.zst');
    const same = async (box: string, image: string) => {
      await withBox(place, { image }, async (copy) =>
        expect(await root(copy, LIST)).toBe(await root(box, LIST)),
      );
    };
    await fc.assert(
      fc.asyncProperty(changes, changes, async (first, second) => {
        await withBox(place, {}, async (box) => {
          await apply(box, first);
          await withSnapshot(box, async (below) => {
            await same(box, below);
            await withBox(place, { image: below }, async (upper, spec) => {
              await apply(upper, second);
              await withSnapshot(upper, (image) => same(upper, image));
              const before = await root(upper, LIST);
              await place.driver.stop(upper);
              await place.driver.archive(upper, file);
              await place.driver.remove(upper);
              await place.driver.unarchive(spec, file);
              await place.driver.start(upper, spec);
              expect(await root(upper, LIST)).toBe(before);
            });
          });
        });
      }),
      { numRuns: RUNS, endOnFailure: true },
    );
    await rm(file);
  });

  test('a stack of many snapshots is merged, and nothing of it is lost or comes back', async () => {
    const made: string[] = [];
    let image = 'host';
    let before = '';
    const rounds = 20;
    for (let i = 0; i < rounds; i++) {
      await withBox(place, { image }, async (box) => {
        const gone = `rm -rf /srv/layer-${i - 2}; rm -rf /srv/turn; mkdir /srv/turn; echo ${i} >/srv/turn/${i}`;
        const swap = i % 2 ? 'rm -rf /srv/swap; echo f >/srv/swap' : 'rm -rf /srv/swap; mkdir -p /srv/swap/d';
        await root(
          box,
          `${gone}; mkdir /srv/layer-${i}; echo ${i} >/srv/layer-${i}/file; ${swap}; chmod 7${i % 8}1 /`,
        );
        const id = newId('snp');
        await place.driver.snapshot(box, id);
        made.push(id);
        image = snapshotReference(id);
        before = await root(box, LIST);
      });
    }
    await withBox(place, { image }, async (box) => {
      expect(await root(box, LIST)).toBe(before);
      expect(await root(box, 'ls /srv')).toBe(`layer-${rounds - 2}\nlayer-${rounds - 1}\nswap\nturn\n`);
    });
    for (const id of made) await place.driver.removeSnapshot(id);
    expect(await readdir(join(place.dataDir, 'images/snapshots'))).toEqual([]);
  });

  test('extended attributes and the capabilities of programs are kept', async () => {
    const [set, get] = process.arch === 'arm64' ? [5, 8] : [188, 191];
    // Perl hands writable strings to the kernel only.
    const write = `perl -e 'my ($f, $u, $c, $v) = ("/srv/f", "user.note", "security.capability", "kept");
      my $cap = pack("V5", 0x02000001, 1 << 10, 0, 0, 0);
      syscall(${set}, $f, $u, $v, 4, 0) == 0 && syscall(${set}, $f, $c, $cap, 20, 0) == 0 or die $!'`;
    const read = `perl -e 'my ($f, $u, $c) = ("/srv/f", "user.note", "security.capability");
      for my $name ($u, $c) { my $v = "-" x 64; my $n = syscall(${get}, $f, $name, $v, 64); print unpack("H*", substr($v, 0, $n)), "\\n" }'`;
    const file = join(place.dataDir, 'attributes.tar.zst');
    await withBox(place, {}, async (box, spec) => {
      await root(box, `echo x >/srv/f; ${write}`);
      const before = await root(box, read);
      expect(before).toBe('6b657074\n0100000200040000000000000000000000000000\n');
      await withSnapshot(box, (image) =>
        withBox(place, { image }, async (copy) => expect(await root(copy, read)).toBe(before)),
      );
      await place.driver.stop(box);
      await place.driver.archive(box, file);
      await place.driver.remove(box);
      await place.driver.unarchive(spec, file);
      await place.driver.start(box, spec);
      expect(await root(box, read)).toBe(before);
    });
  });

  test('a folder is not mounted where a box has put a link', async () => {
    const spec = boxSpec('host', { mounts: [{ source: place.dataDir, target: '/srv/here/there' }] });
    await withBox(place, {}, async (box) => {
      await root(box, 'ln -s /proc /srv/here');
      await withSnapshot(box, async (image) => {
        const made = place.driver.create({ ...spec, image });
        expect(made).rejects.toThrow(/is a link/);
        await made.catch(() => {});
        expect((await place.driver.inspect(spec.id)).state).toBe('missing');
      });
    });
  });

  test('nothing is left of a snapshot for which the disk has no space', async () => {
    const id = newId('snp');
    const images = join(place.dataDir, 'images/snapshots');
    await withBox(place, {}, async (box) => {
      await root(box, 'head -c 3000000 /dev/urandom >/srv/big');
      const mounted = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=1m', 'none', images]);
      expect(mounted.exitCode).toBe(0);
      try {
        const made = place.driver.snapshot(box, id);
        expect(made).rejects.toMatchObject({ code: 'disk_full' });
        await made.catch(() => {});
        expect(await readdir(images)).toEqual([]);
        expect(await root(box, 'echo goes on')).toBe('goes on\n');
      } finally {
        Bun.spawnSync(['umount', images]);
      }
    });
  });
});
