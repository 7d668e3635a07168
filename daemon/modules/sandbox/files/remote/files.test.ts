import { afterAll, beforeAll, expect, test } from 'bun:test';
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callProgram } from '../../drivers/programs/call-program.ts';
import { readBytes } from '../read.ts';
import { localExecution } from '../testing/local-execution.ts';
import { writeFile as writeContent } from '../write.ts';
import { RemoteFiles } from './files.ts';
import { CallServer } from './server.ts';

let dir = '';
let files: RemoteFiles;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'svc-files-'));
  await writeFile(join(dir, 'call'), callProgram());
  await chmod(join(dir, 'call'), 0o755);
  const server = new CallServer(localExecution([join(dir, 'call')], dir));
  await server.hello();
  files = new RemoteFiles(server);
});
afterAll(async () => {
  await files.close();
  await rm(dir, { recursive: true, force: true });
});

test('writes, reads and describes a file of several megabytes', async () => {
  const path = join(dir, 'data');
  const bytes = crypto.getRandomValues(new Uint8Array(65_536));
  const whole = Buffer.concat(Array.from({ length: 50 }, () => bytes));
  const file = await files.open(path, { write: true, read: true, create: true, mode: 0o640 });
  await file.write(0, whole);
  await file.write(5, new TextEncoder().encode('hello'));
  whole.write('hello', 5);
  const [a, b] = await Promise.all([file.read(0, 10), file.read(whole.length - 3, 100)]);
  expect(Buffer.concat([a, b])).toEqual(Buffer.concat([whole.subarray(0, 10), whole.subarray(-3)]));
  expect(await file.stat()).toMatchObject({ kind: 'file', size: whole.length, mode: 0o640 });
  await file.close();
  expect((await readFile(path)).equals(whole)).toBe(true);
  expect(files.isBusy).toBe(false);
});

test.each([
  ['a disk', tmpdir()],
  ['memory', '/dev/shm'],
])('a content that outgrows the page cache comes back as it was, on %s', async (_, parent) => {
  const folder = await mkdtemp(join(parent, 'svc-files-large-'));
  const path = join(folder, 'large');
  try {
    // Past the part that is cached, and with an end that no disk block has.
    const whole = Buffer.alloc(21 * 1024 * 1024 + 1_234);
    for (let at = 0; at < whole.length; at += 65_536)
      crypto.getRandomValues(whole.subarray(at, at + Math.min(65_536, whole.length - at)));
    const content = async function* () {
      for (let at = 0; at < whole.length; at += 300_007) yield whole.subarray(at, at + 300_007);
    };
    const lanes = { small: files, large: async () => files };
    expect(await writeContent(lanes, { path }, content())).toBe(whole.length);
    expect((await readFile(path)).equals(whole)).toBe(true);
    // Out of the cache, so that reading goes past it too.
    await Bun.$`sync ${path}; dd if=${path} iflag=nocache count=0`.quiet();
    const file = await files.open(path, { read: true, write: true });
    const parts: Uint8Array[] = [];
    for await (const part of readBytes(file, { start: 0 })) parts.push(part);
    expect(Buffer.concat(parts).equals(whole)).toBe(true);
    await file.write(17 * 1024 * 1024 + 1, new TextEncoder().encode('odd'));
    expect(Buffer.from(await file.read(17 * 1024 * 1024 + 1, 3)).toString()).toBe('odd');
    await file.close();
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('follows links only when asked, and tells the real path', async () => {
  await mkdir(join(dir, 'real'));
  await symlink('real', join(dir, 'link'));
  expect((await files.lstat(join(dir, 'link'))).kind).toBe('symlink');
  expect((await files.stat(join(dir, 'link'))).kind).toBe('directory');
  expect(await files.readLink(join(dir, 'link'))).toBe('real');
  expect(await files.realPath(`${dir}/link/../link/.`)).toBe(join(dir, 'real'));
});

test('refuses what is no file without waiting for it', async () => {
  await Bun.$`mkfifo ${join(dir, 'pipe')}`.quiet();
  await expect(files.open(join(dir, 'pipe'), { read: true })).rejects.toMatchObject({ code: 'file_failed' });
  await expect(files.open(join(dir, 'real'), { read: true })).rejects.toMatchObject({
    code: 'is_a_directory',
  });
  await expect(files.open(join(dir, 'none'), { read: true })).rejects.toMatchObject({
    code: 'file_not_found',
    message: expect.stringContaining('none'),
  });
});
