import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { boxSpec, finish, sh } from '../../drivers/conformance/scene.ts';
import type { DriverPlace } from '../../drivers/conformance.ts';
import type { SandboxDriver } from '../../drivers/driver.ts';
import { CALL_PATH } from '../../drivers/programs/call-program.ts';
import type { RemoteFiles } from '../remote/files.ts';
import { BOX_ROOT, BoxServers } from '../servers.ts';
import { removeTree } from '../tree.ts';
import { writeFile } from '../write.ts';

/** What the files of a box do on every driver, as tests. `skip` says why nothing is run. */
export function boxFilesRules(
  name: string,
  makeDriver: (place: DriverPlace) => Promise<SandboxDriver>,
  { image, skip }: { readonly image: string; readonly skip?: string },
): void {
  if (skip) {
    describe.skip(`files of boxes of the ${name} driver: ${skip}`, () => {});
    return;
  }
  describe(`files of boxes of the ${name} driver`, () => {
    setDefaultTimeout(60_000);
    let driver: SandboxDriver;
    let servers: BoxServers;
    let files: RemoteFiles;
    let dataDir = '';
    const spec = boxSpec(image);
    beforeAll(async () => {
      dataDir = await mkdtemp(join(tmpdir(), 'svc-box-files-'));
      driver = await makeDriver({ dataDir, instance: `f${crypto.randomUUID().slice(0, 6)}` });
      await driver.prepareImage(image);
      await driver.create(spec);
      servers = new BoxServers(driver);
      files = await servers.shared(spec.id);
    });
    afterAll(async () => {
      servers?.close();
      await driver?.remove(spec.id);
      await driver?.close();
      await rm(dataDir, { recursive: true, force: true });
    });
    const run = async (script: string, uid?: number) =>
      (await finish(await driver.exec(spec.id, sh(script, { uid })))).stdout;
    const codeOf = (attempt: Promise<unknown>) =>
      attempt.then(
        () => 'done',
        (error: { code?: string }) => error.code,
      );

    test('are those that commands of the box see, as the same user', async () => {
      const file = await files.open('/workspace/f', { write: true, create: true, mode: 0o666 });
      await file.write(0, new TextEncoder().encode('abc'));
      await file.setMode(0o604);
      await file.setTimes(1_000_000, 1_234_567_000);
      await file.close();
      expect(await run('cat /workspace/f; stat -c " %a %u %g %Y" /workspace/f')).toBe(
        'abc 604 1000 1000 1234567\n',
      );
      expect(await files.stat('/workspace/f')).toMatchObject({
        kind: 'file',
        size: 3,
        mode: 0o604,
        uid: 1000,
        gid: 1000,
        modifiedAt: 1_234_567_000,
      });
    });

    test('are made, linked, renamed, cut and removed', async () => {
      await files.makeDirectory('/workspace/d', 0o777);
      expect((await files.stat('/workspace/d')).mode).toBe(0o777);
      await files.symlink('d', '/workspace/l');
      expect(await files.readLink('/workspace/l')).toBe('d');
      expect(await files.realPath('/workspace/l/../l')).toBe('/workspace/d');
      await writeFile(lanes(), { path: '/workspace/l/x' }, once('0123456789'));
      await files.link('/workspace/d/x', '/workspace/d/y');
      expect((await files.stat('/workspace/d/x')).inode).toBe((await files.stat('/workspace/d/y')).inode);
      await files.truncate('/workspace/d/y', 4);
      await files.rename('/workspace/d/y', '/workspace/d/z');
      expect(await run('cat /workspace/d/x; ls /workspace/d')).toBe('0123x\nz\n');
      expect(await codeOf(files.removeDirectory('/workspace/d'))).toBe('directory_not_empty');
      await files.remove('/workspace/l');
      await removeTree(files, '/workspace/d');
      expect(await codeOf(files.stat('/workspace/d'))).toBe('file_not_found');
    });

    test('are listed whole, however many, whatever they are called', async () => {
      const odd = ['a\nb', ' ', '-n', '…', 'x'.repeat(255), '\udcff\udc80', '"\''];
      await files.makeDirectory('/workspace/many', 0o755);
      for (const name of odd) await files.makeDirectory(`/workspace/many/${name}`, 0o755);
      await run('cd /workspace/many; i=0; while [ $i -lt 3000 ]; do : >f$i; i=$((i+1)); done');
      const names: string[] = [];
      for await (const entries of files.list('/workspace/many'))
        names.push(...entries.map(({ name }) => name));
      expect(names).toHaveLength(3007);
      expect(names).toEqual(expect.arrayContaining(odd));
      await removeTree(files, '/workspace/many');
      expect(await run('ls -A /workspace/many 2>&1 || true')).toContain('No such file');
      expect(files.isBusy).toBe(false);
    });

    test('removes a tree that is deep, and says when one is too deep', async () => {
      const dig = (depth: number) =>
        run(
          `cd /workspace; mkdir deep; cd deep; i=0; while [ $i -lt ${depth} ]; do mkdir n; cd n; i=$((i+1)); done; : >f`,
        );
      await dig(300);
      await removeTree(files, '/workspace/deep');
      await dig(500);
      expect(await codeOf(removeTree(files, '/workspace/deep'))).toBe('file_failed');
      await run('rm -rf /workspace/deep');
    });

    test('tell what the kernel says', async () => {
      await run('cd /workspace; rm -rf e; mkdir e; : >e/f; ln -s loop e/loop; mkfifo e/p');
      expect(await codeOf(files.stat('/workspace/e/none'))).toBe('file_not_found');
      expect(await codeOf(files.stat('/workspace/e/f/x'))).toBe('not_a_directory');
      expect(await codeOf(files.stat('/workspace/e/loop'))).toBe('file_failed');
      expect(await codeOf(files.open('/workspace/e', { read: true }))).toBe('is_a_directory');
      expect(await codeOf(files.open('/workspace/e/p', { read: true }))).toBe('file_failed');
      expect(await codeOf(files.open('/workspace/e/p', { write: true }))).toBe('file_failed');
      expect(await codeOf(files.open('/workspace/e/f', { write: true, create: true, exclusive: true }))).toBe(
        'file_exists',
      );
      expect(await codeOf(files.makeDirectory('/workspace/e/f', 0o755))).toBe('file_exists');
      expect(await codeOf(files.makeDirectory('/etc/x', 0o755))).toBe('file_denied');
      expect(await codeOf(files.setOwner('/workspace/e/f', 0, 0))).toBe('file_denied');
      expect(await codeOf(files.stat(`/workspace/${'x'.repeat(256)}`))).toBe('invalid_argument');
    });

    test('are those of root inside for its process, and of nobody outside', async () => {
      const root = await servers.shared(spec.id, BOX_ROOT);
      await writeFile(
        { small: root, large: async () => root },
        { path: '/etc/mine', mode: 0o600, owner: { uid: 7, gid: 8 } },
        once('x'),
      );
      expect(await run('stat -c "%a %u %g" /etc/mine', 0)).toBe('600 7 8\n');
      expect(await codeOf(files.open('/etc/mine', { read: true }))).toBe('file_denied');
    });

    test('can be asked for by many at once', async () => {
      const answers = await Promise.all(
        Array.from({ length: 300 }, (_, i) => files.stat(i % 2 ? '/workspace' : '/etc/passwd')),
      );
      expect(answers.map(({ kind }) => kind)).toEqual(
        Array.from({ length: 300 }, (_, i) => (i % 2 ? 'directory' : 'file')),
      );
    });

    test('come from a process that cannot be replaced, looked into, or missed when it is killed', async () => {
      await run(`rm -f ${CALL_PATH}; echo 'echo bad' >${CALL_PATH}`);
      await run(
        'for p in /proc/[0-9]*; do [ "$(cat $p/comm)" = call ] && cat $p/environ >/workspace/stolen; done 2>/dev/null',
      );
      expect(await run('cat /workspace/stolen 2>/dev/null | wc -c')).toBe('0\n');
      await run('kill -9 -1');
      for (let i = 0; i < 100 && !files.server.isEnded; i++) await Bun.sleep(20);
      expect(await codeOf(files.stat('/workspace'))).toBe('unavailable');
      const next = await servers.shared(spec.id);
      expect((await next.stat('/workspace')).kind).toBe('directory');
      files = next;
    });

    const lanes = () => ({ small: files, large: () => servers.shared(spec.id, {}, 'large') });
  });
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}
