import { afterAll, beforeAll, expect, test } from 'bun:test';
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callProgram } from '../../drivers/programs/call-program.ts';
import { localExecution } from '../testing/local-execution.ts';
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
