import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { type ByteSource, StreamSource } from './byte-source.ts';
import { UnusableImage } from './image.ts';
import { readEntries, skipPadding, type TarEntry } from './tar.ts';
import { makeTar, pieces } from './testing/tars.ts';

async function list(source: ByteSource): Promise<Array<TarEntry & { content: string }>> {
  const found: Array<TarEntry & { content: string }> = [];
  for await (const entry of readEntries(source)) {
    found.push({ ...entry, content: new TextDecoder().decode(await source.read(entry.size)) });
    await skipPadding(source, entry.size);
  }
  return found;
}

const open = (bytes: Uint8Array, length?: number) => new StreamSource(pieces(bytes, length), 1e9);

describe('a tar archive', () => {
  let dir = '';
  const long = 'long-name-'.repeat(15);
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'svc-tar-'));
    await mkdir(join(dir, 'in', long), { recursive: true });
    await writeFile(join(dir, 'in', long, 'ä.txt'), 'hello');
    await writeFile(join(dir, 'in/empty'), '');
    await symlink(`/${long}`, join(dir, 'in/link'));
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  test.each(['gnu', 'pax', 'oldgnu', 'posix'])('in the format %s of GNU tar is read', async (format) => {
    const packed = Bun.spawnSync([
      'tar',
      `--format=${format}`,
      '--sort=name',
      '-C',
      join(dir, 'in'),
      '-cf',
      '-',
      '.',
    ]);
    const entries = await list(open(packed.stdout));
    const facts = entries.map(({ path, kind, link, content }) => [path, kind, link, content]);
    expect(facts).toEqual([
      ['./', 'directory', '', ''],
      ['./empty', 'file', '', ''],
      ['./link', 'symlink', `/${long}`, ''],
      [`./${long}/`, 'directory', '', ''],
      [`./${long}/ä.txt`, 'file', '', 'hello'],
    ]);
  });

  test('is understood again after it was written, also by GNU tar', async () => {
    const name = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 150 })
      .map((it) => it.replace(/[\0/]/g, '_'));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.record({ path: name, content: fc.string() })), async (wanted) => {
        const entries = await list(open(makeTar(wanted), 333));
        expect(entries.map(({ path, content }) => ({ path, content }))).toEqual(
          wanted.map(({ path, content }) => ({
            path,
            content: new TextDecoder().decode(new TextEncoder().encode(content)),
          })),
        );
      }),
      { numRuns: 200 },
    );
    const listed = Bun.spawnSync(['tar', '-tf', '-'], {
      stdin: makeTar([{ path: `${long}/x`, content: 'y' }]),
    });
    expect(listed.stdout.toString().trim()).toBe(`${long}/x`);
  });

  test('that is damaged, cut off or something else is refused and never hangs', async () => {
    const good = makeTar([
      { path: 'a', content: 'x'.repeat(2_000) },
      { path: 'b'.repeat(200), content: 'y' },
    ]);
    await fc.assert(
      fc.asyncProperty(fc.nat(good.length - 1), fc.nat(255), fc.boolean(), async (at, value, cut) => {
        const bytes = cut ? good.subarray(0, at) : good.map((byte, i) => (i === at ? value : byte));
        try {
          await list(open(bytes));
        } catch (error) {
          expect(error).toBeInstanceOf(UnusableImage);
        }
      }),
      { numRuns: 2_000 },
    );
    expect(list(open(crypto.getRandomValues(new Uint8Array(2_048))))).rejects.toBeInstanceOf(UnusableImage);
  });

  test('is read to the bound, not beyond', async () => {
    const source = new StreamSource(pieces(makeTar([{ path: 'a', content: 'x'.repeat(10_000) }])), 5_000);
    expect(list(source)).rejects.toThrow('more than 5000 bytes');
  });
});
