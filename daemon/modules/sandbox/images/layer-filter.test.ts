import { describe, expect, test } from 'bun:test';
import { StreamSource } from './byte-source.ts';
import { IMAGE_BOUNDS } from './image.ts';
import { type LayerMarks, safeLayer } from './layer-filter.ts';
import { makeTar, pieces, type Wanted, withType } from './testing/tars.ts';

async function filter(tar: Uint8Array, bounds = IMAGE_BOUNDS) {
  const marks: LayerMarks = { whiteouts: new Set(), opaque: new Set() };
  const parts: Uint8Array[] = [];
  for await (const part of safeLayer(new StreamSource(pieces(tar), 1e9), marks, bounds))
    parts.push(part.slice());
  const listed = Bun.spawnSync(['tar', '-tf', '-'], { stdin: Buffer.concat(parts) });
  expect(listed.exitCode).toBe(0);
  return { names: listed.stdout.toString().split('\n').filter(Boolean), marks };
}

const link = (path: string, to: string): Wanted => ({ path, kind: 'symlink', link: to });

describe('a layer on its way to be unpacked', () => {
  test.each<[string, Wanted[]]>([
    ['a path with ..', [{ path: '../evil' }]],
    ['a path with .. in the middle', [{ path: 'a/../../evil' }]],
    ['an absolute path with ..', [{ path: '/../evil' }]],
    ['a file below a link', [link('a', '/etc'), { path: 'a/passwd' }]],
    ['a file deep below a link', [link('x/a', '..'), { path: './x//a/b/c' }]],
    ['a link below a link', [link('a', '/'), link('a/b', '/etc')]],
    ['a directory below a link', [link('a', '/'), { path: 'a/b', kind: 'directory' }]],
    ['a hard link through a link', [link('a', '/etc'), { path: 'b', kind: 'hardlink', link: 'a/shadow' }]],
    ['a hard link that leads out', [{ path: 'b', kind: 'hardlink', link: '../../etc/shadow' }]],
    ['a whiteout that leads out', [{ path: '../.wh.x' }]],
    ['a whiteout below a link', [link('a', '/etc'), { path: 'a/.wh.passwd' }]],
    ['a name that is too long', [{ path: 'x'.repeat(300) }]],
    ['a path that is too long', [{ path: 'x/'.repeat(3_000) }]],
    ['an owner that boxes do not have', [{ path: 'a', uid: 70_000 }]],
  ])('is refused with %s', async (_, entries) => {
    expect(filter(makeTar(entries))).rejects.toMatchObject({ name: 'UnusableImage' });
  });

  test('is refused when it has too many entries', async () => {
    const many = Array.from({ length: 11 }, (_, i) => ({ path: `f${i}` }));
    expect(filter(makeTar(many), { ...IMAGE_BOUNDS, layerEntries: 10 })).rejects.toThrow(
      'more than 10 entries',
    );
  });

  test.each(['3', '4', '6', 'V', 'M', 'Z'])('loses an entry of the type %s', async (type) => {
    const tar = withType(makeTar([{ path: 'odd' }, { path: 'plain', content: 'x' }]), type);
    expect((await filter(tar)).names).toEqual(['plain']);
  });

  test('keeps plain files, folders and links, under plain names', async () => {
    const { names } = await filter(
      makeTar([
        { path: './' },
        { path: '/a/', kind: 'directory' },
        { path: './a//b', content: 'x'.repeat(1_000) },
        link('a/out', '../../../etc/passwd'),
        { path: 'a/c', kind: 'hardlink', link: './a/b' },
      ]),
    );
    expect(names).toEqual(['a', 'a/b', 'a/out', 'a/c']);
  });

  test('tells what it takes away', async () => {
    const { names, marks } = await filter(
      makeTar([
        { path: 'etc/.wh.old' },
        { path: 'var/.wh..wh..opq' },
        { path: '.wh.top' },
        { path: 'etc/.wh..wh.aufs' },
        { path: 'etc/.wh..' },
        { path: 'etc/.wh.' },
        { path: 'etc/new' },
      ]),
    );
    expect(names).toEqual(['etc/new']);
    expect([...marks.whiteouts]).toEqual(['etc/old', 'top']);
    expect([...marks.opaque]).toEqual(['var']);
  });
});
