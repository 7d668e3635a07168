import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { sandboxFiles } from '../src/api/sandbox/files.ts';
import { sandboxLifecycle } from '../src/api/sandbox/lifecycle.ts';
import type { Client } from '../src/client/client.ts';
import { startDaemon, type TestDaemon } from './support/daemon.ts';
import { driverCases } from './support/drivers.ts';
import { clientOf, newSandbox, run } from './support/scene.ts';

/** Megabytes of the large file. */
const LARGE_MB = Number(process.env.SVC_TEST_FILE_MB ?? 48);

/** Whether the daemon's growth is told. */
const RSS = process.env.SVC_TEST_FILE_RSS !== undefined;

interface Metadata {
  readonly path: string;
  readonly owner?: string;
  readonly group?: string;
  readonly mode?: number;
}

setDefaultTimeout(60_000);

describe.each(driverCases)('files on the $name driver', ({ env }) => {
  let daemon: TestDaemon;
  let client: Client;
  let id: string;
  beforeAll(async () => {
    daemon = await startDaemon({ env });
    client = clientOf(daemon);
    id = await newSandbox(client);
  }, 60_000);
  afterAll(async () => {
    await client?.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId: id }, body: {} });
    await daemon?.stop();
  });

  const params = () => ({ sandboxId: id });
  const url = (path: string, query: Record<string, string>) =>
    `/v1/sandbox/${id}/${path}?${new URLSearchParams(query)}`;
  const upload = (files: ReadonlyArray<readonly [Metadata, BlobPart]>, path = 'upload') => {
    const form = new FormData();
    for (const [metadata, content] of files) {
      form.append('metadata', JSON.stringify(metadata));
      form.append('file', new Blob([content]), 'x');
    }
    return daemon.fetch(`/v1/sandbox/${id}/files/${path}`, { method: 'POST', body: form });
  };
  const write = async (path: string, content: BlobPart, more: Partial<Metadata> = {}) => {
    const response = await upload([[{ path, ...more }, content]]);
    expect([response.status, response.ok ? '' : await response.text()]).toEqual([200, '']);
  };
  const read = async (
    path: string,
    more: Record<string, string> = {},
    headers: Record<string, string> = {},
  ) => daemon.fetch(url('files/download', { path, ...more }), { headers });
  const text = async (path: string, more: Record<string, string> = {}) => (await read(path, more)).text();
  const info = async (path: string) =>
    (await client.call(sandboxFiles.GetFileInfo, { params: params(), query: { path: [path] } }))[path];
  const sh = async (command: string, uid?: number) => {
    const { stdout, stderr, code } = await run(client, id, command, uid === undefined ? {} : { uid });
    expect([code, stderr]).toEqual([0, '']);
    return stdout;
  };
  const refused = async (attempt: Promise<unknown>) =>
    (await attempt.then(
      () => ({}),
      (error: unknown) => error,
    )) as { http?: number; code?: string; message?: string };

  describe('an upload', () => {
    test.each<[string, Buffer]>([
      ['empty', Buffer.alloc(0)],
      ['one byte', Buffer.from([0])],
      ['every byte', Buffer.from(Array.from({ length: 256 }, (_, i) => i))],
      ['just a block', Buffer.alloc(512 * 1024, 'ab')],
      ['just over a block', Buffer.alloc(512 * 1024 + 1, 'ab')],
      ['several blocks', Buffer.alloc(3 * 1024 * 1024 + 7, 'abc')],
    ])('of %s comes back the same', async (_, content) => {
      await write('/workspace/same', Uint8Array.from(content));
      expect(Buffer.from(await (await read('/workspace/same')).arrayBuffer()).equals(content)).toBe(true);
    });

    test.each([
      ['a space and ümläut ✓'],
      ['a\nnewline'],
      ['quote"\'$(id)`'],
      ['-rf'],
      ['%2e%2e'],
      ['x'.repeat(255)],
      ['…hidden'],
    ])('may be called %p', async (name) => {
      await write(`/workspace/odd/${name}`, name);
      expect(await text(`/workspace/odd/${name}`)).toBe(name);
    });

    test('makes parents, takes owner, group and mode, and keeps the mode of what is there', async () => {
      await write('/workspace/deep/er/file', 'a', { mode: 750 });
      expect(await sh('stat -c %a:%U:%G /workspace/deep/er/file')).toMatch(/^750:\w+:\w+\n$/);
      await write('/workspace/deep/er/file', 'b');
      expect(await info('/workspace/deep/er/file')).toMatchObject({ mode: 750, size: 1, type: 'file' });
      await write('/etc/as-root', 'c', { owner: 'root', group: '0', mode: 600 });
      expect(await info('/etc/as-root')).toMatchObject({ owner: 'root', group: 'root', mode: 600 });
      expect(
        await refused(
          client.open(sandboxFiles.DownloadFile, { params: params(), query: { path: '/etc/as-root' } }),
        ),
      ).toMatchObject({ http: 403, code: 'file_denied' });
    });

    test('of several files writes them in order, and answers them', async () => {
      const response = await upload(
        [
          [{ path: '/workspace/many/1' }, 'one'],
          [{ path: '/workspace/many/2' }, 'four'],
        ],
        'bulk-upload',
      );
      expect(await response.json()).toEqual({
        status: 'uploaded',
        files: [
          { path: '/workspace/many/1', size: 3 },
          { path: '/workspace/many/2', size: 4 },
        ],
      });
    });

    test('through a link writes what is behind it; in place of a directory or a pipe it is refused', async () => {
      await sh(
        'mkdir -p /workspace/l; cd /workspace/l; echo old > real; ln -s real link; mkfifo pipe; mkdir dir',
      );
      await write('/workspace/l/link', 'new');
      expect(await sh('cat /workspace/l/real; readlink /workspace/l/link')).toBe('newreal\n');
      expect((await upload([[{ path: '/workspace/l/dir' }, 'x']])).status).toBe(409);
      expect((await upload([[{ path: '/workspace/l/pipe' }, 'x']])).status).toBe(409);
      expect(await sh('ls -A /workspace/l')).toBe('dir\nlink\npipe\nreal\n');
    });

    test('is never seen half, and leaves nothing when its sender goes away', async () => {
      await write('/workspace/whole/file', 'old');
      const controller = new AbortController();
      const boundary = 'B';
      const head = `--${boundary}\r\nContent-Disposition: form-data; name="metadata"\r\n\r\n{"path":"/workspace/whole/file"}\r\n--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n`;
      const body = new ReadableStream({
        async start(stream) {
          stream.enqueue(new TextEncoder().encode(head));
          stream.enqueue(new Uint8Array(4 * 1024 * 1024));
          await Bun.sleep(400);
          controller.abort();
        },
      });
      const sent = daemon
        .fetch(`/v1/sandbox/${id}/files/upload`, {
          method: 'POST',
          body,
          signal: controller.signal,
          headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
        })
        .catch(() => 'gone');
      await Bun.sleep(250);
      expect(await text('/workspace/whole/file')).toBe('old');
      expect(await sent).toBe('gone');
      for (let i = 0; i < 50 && (await sh('ls -A /workspace/whole')) !== 'file\n'; i++) await Bun.sleep(100);
      expect(await sh('ls -A /workspace/whole')).toBe('file\n');
      expect(await text('/workspace/whole/file')).toBe('old');
    });

    test.each<[string, unknown, string]>([
      ['a relative path', { path: 'x' }, 'metadata.path'],
      ['a path out of the root', { path: '/a/../../x' }, 'metadata.path'],
      ['a NUL', { path: '/workspace/\0' }, 'metadata.path'],
      ['no path', {}, 'metadata.path'],
      ['a mode that is not octal', { path: '/workspace/x', mode: 789 }, 'metadata.mode'],
      ['an unknown owner', { path: '/workspace/x', owner: 'nobody-knows' }, 'metadata.owner'],
    ])('with %s is 400 naming it', async (_, metadata, field) => {
      const response = await upload([[metadata as Metadata, 'x']]);
      expect(response.status).toBe(400);
      expect(await response.text()).toContain(field === 'metadata.owner' ? 'owner' : field);
    });

    test('over the limit is 413, declared and chunked, and leaves nothing', async () => {
      const limit = 256 * 1024 * 1024;
      const headers = { 'content-type': 'multipart/form-data; boundary=B' };
      const send = (body: BodyInit) =>
        daemon.fetch(`/v1/sandbox/${id}/files/upload`, { method: 'POST', body, headers });
      expect((await send(new Uint8Array(limit + 1))).status).toBe(413);
      const head =
        '--B\r\nContent-Disposition: form-data; name="metadata"\r\n\r\n{"path":"/workspace/much/file"}\r\n--B\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n';
      const block = new Uint8Array(4 * 1024 * 1024);
      let sent = 0;
      const chunked = new ReadableStream({
        pull(stream) {
          if (sent === 0) stream.enqueue(new TextEncoder().encode(head));
          sent += block.length;
          if (sent > limit) stream.close();
          else stream.enqueue(block);
        },
      });
      const before = residentMb(daemon.pid);
      expect((await send(chunked)).status).toBe(413);
      if (RSS) console.log(`${(residentMb(daemon.pid) - before).toFixed(0)} MB more after 256 MB`);
      expect(await sh('ls -A /workspace/much')).toBe('');
    }, 120_000);
  });

  describe('a download', () => {
    test(`of ${LARGE_MB} MB goes both ways in little memory`, async () => {
      const block = crypto.getRandomValues(new Uint8Array(65_536));
      const content = new Blob(Array.from({ length: LARGE_MB * 16 }, () => block));
      const digest = async (stream: ReadableStream<Uint8Array>) => {
        const hash = new Bun.CryptoHasher('sha256');
        for await (const bytes of stream) hash.update(bytes);
        return hash.digest('hex');
      };
      await write('/workspace/large', content);
      const wanted = await digest(content.stream());
      expect((await sh('sha256sum /workspace/large')).split(' ')[0]).toBe(wanted);
      const response = await read('/workspace/large');
      expect(response.headers.get('x-svc-size')).toBe(String(LARGE_MB * 1024 * 1024));
      expect(await digest(response.body as ReadableStream<Uint8Array>)).toBe(wanted);
    }, 120_000);

    test.each<[string, number, string, string | null]>([
      ['bytes=0-3', 206, '0123', 'bytes 0-3/10'],
      ['bytes=8-', 206, '89', 'bytes 8-9/10'],
      ['bytes=-3', 206, '789', 'bytes 7-9/10'],
      ['bytes=5-100', 206, '56789', 'bytes 5-9/10'],
      ['bytes=0-0,3-4', 200, '0123456789', null],
      ['lines=1-2', 200, '0123456789', null],
      ['bytes=4-2', 200, '0123456789', null],
    ])('with Range %s answers %d', async (range, status, body, contentRange) => {
      await write('/workspace/ten', '0123456789');
      const response = await read('/workspace/ten', {}, { range });
      expect([response.status, await response.text(), response.headers.get('content-range')]).toEqual([
        status,
        body,
        contentRange,
      ]);
    });

    test('of bytes that are not there is 416; of an unchanged file 304', async () => {
      await write('/workspace/ten', '0123456789');
      const past = await read('/workspace/ten', {}, { range: 'bytes=10-' });
      expect([past.status, past.headers.get('content-range')]).toEqual([416, 'bytes */10']);
      const etag = (await read('/workspace/ten')).headers.get('etag') ?? '';
      expect((await read('/workspace/ten', {}, { 'if-none-match': etag })).status).toBe(304);
      await write('/workspace/ten', '0123456780');
      expect((await read('/workspace/ten', {}, { 'if-none-match': etag })).status).toBe(200);
    });

    test.each<[Record<string, string>, string]>([
      [{ offset: '1', limit: '2' }, 'a\nb\n'],
      [{ offset: '3' }, '\nd'],
      [{ limit: '1' }, 'a\n'],
      [{ offset: '4', limit: '9' }, 'd'],
      [{ offset: '5' }, ''],
    ])('of the lines %j', async (window, wanted) => {
      await write('/workspace/lines', 'a\nb\n\nd');
      expect(await text('/workspace/lines', window)).toBe(wanted);
    });

    test('of what has no size, like /proc, reads it to its end', async () => {
      expect(await text('/proc/self/status')).toContain('Name:\tcall');
    });

    test.each<[string, number, string]>([
      ['/workspace/none', 404, 'file_not_found'],
      ['/workspace', 409, 'is_a_directory'],
      ['/dev/zero', 409, 'file_failed'],
      ['/workspace/l/pipe', 409, 'file_failed'],
      ['/etc/passwd/x', 409, 'not_a_directory'],
      ['/etc/shadow', 403, 'file_denied'],
    ])('of %s is %d %s', async (path, status, reason) => {
      await sh('mkdir -p /workspace/l; [ -p /workspace/l/pipe ] || mkfifo /workspace/l/pipe');
      await sh('[ -e /etc/shadow ] || touch /etc/shadow; chmod 600 /etc/shadow', 0);
      const response = await read(path);
      expect(response.status).toBe(status);
      const body = await response.text();
      expect(body).toContain(reason);
      expect(body).toContain(path);
    });

    test('of a directory is a tar archive', async () => {
      await sh('mkdir -p /workspace/t/sub; cd /workspace/t; echo one > sub/1; ln -s sub/1 l; chmod 700 sub');
      const bytes = await (await read('/workspace/t', { format: 'tar' })).bytes();
      const child = Bun.spawn(['tar', '-tv'], { stdin: new Blob([bytes]), stdout: 'pipe' });
      const listing = await new Response(child.stdout).text();
      expect(await child.exited).toBe(0);
      expect(
        listing
          .replace(/ +/g, ' ')
          .split('\n')
          .map((line) =>
            line
              .split(' ')
              .filter((_, i) => i === 0 || i > 4)
              .join(' '),
          )
          .sort()
          .filter(Boolean),
      ).toEqual(['-rw-r--r-- t/sub/1', 'drwx------ t/sub/', 'drwxr-xr-x t/', 'lrwxrwxrwx t/l -> sub/1']);
    });
  });

  describe('directories', () => {
    test('are made with their parents, described, listed and removed with all that is in them', async () => {
      await client.call(sandboxFiles.CreateDirectories, {
        params: params(),
        body: { '/workspace/tree/a/b': { mode: 700 }, '/workspace/tree/c': {} },
      });
      expect(await info('/workspace/tree/a/b')).toMatchObject({ type: 'directory', mode: 700 });
      expect(await info('/workspace/tree/a')).toMatchObject({ mode: 755 });
      await sh(
        'cd /workspace/tree; ln -s / c/root; ln -s ../c a/back; for i in $(seq 300); do : > a/b/$i; done',
      );
      const listing = await client.call(sandboxFiles.ListDirectory, {
        params: params(),
        query: { path: '/workspace/tree', depth: 9, offset: 2, limit: 2 },
      });
      expect(listing.total).toBe(305);
      expect(listing.entries.map(({ path, type, target }) => [path, type, target])).toEqual([
        ['/workspace/tree/a/b/1', 'file', undefined],
        ['/workspace/tree/a/b/10', 'file', undefined],
      ]);
      const [back] = (
        await client.call(sandboxFiles.ListDirectory, {
          params: params(),
          query: { path: '/workspace/tree/c' },
        })
      ).entries;
      expect(back).toMatchObject({ type: 'symlink', target: '/' });
      const gone = client.call(sandboxFiles.DeleteDirectories, {
        params: params(),
        body: { paths: ['/workspace/tree/a/back'] },
      });
      expect(await refused(gone)).toMatchObject({ code: 'not_a_directory' });
      expect(
        await client.call(sandboxFiles.DeleteDirectories, {
          params: params(),
          body: { paths: ['/workspace/tree/'] },
        }),
      ).toEqual({ status: 'deleted' });
      expect(await sh('ls -d /workspace/tree /etc/passwd 2>/dev/null || true')).toBe('/etc/passwd\n');
    });

    test('that cannot be made or removed say why', async () => {
      await write('/workspace/plain', 'x');
      const make = (path: string) =>
        refused(client.call(sandboxFiles.CreateDirectories, { params: params(), body: { [path]: {} } }));
      expect(await make('/workspace/plain')).toMatchObject({ http: 409, code: 'file_exists' });
      expect(await make('/workspace/plain/x')).toMatchObject({ http: 409, code: 'not_a_directory' });
      expect(await make('/etc/mine')).toMatchObject({ http: 403 });
      expect(await make('relative')).toMatchObject({ http: 400 });
      const remove = (path: string) =>
        refused(client.call(sandboxFiles.DeleteDirectories, { params: params(), body: { paths: [path] } }));
      expect(await remove('/')).toMatchObject({ http: 400 });
      expect(await remove('/workspace/nowhere')).toMatchObject({ http: 404 });
      expect(await remove('/workspace/plain')).toMatchObject({ http: 409 });
    });
  });

  describe('files', () => {
    test('are removed for good; when one is missing none is', async () => {
      await write('/workspace/r/1', '1');
      await write('/workspace/r/2', '2');
      const remove = (...paths: string[]) =>
        client.call(sandboxFiles.DeleteFiles, { params: params(), body: { paths } });
      expect(await refused(remove('/workspace/r/1', '/workspace/r/none'))).toMatchObject({
        http: 404,
        message: expect.stringContaining('/workspace/r/none'),
      });
      expect(await refused(remove('/workspace/r/1', '/workspace/r'))).toMatchObject({
        http: 409,
        code: 'is_a_directory',
      });
      expect(await sh('ls /workspace/r')).toBe('1\n2\n');
      expect(await remove('/workspace/r/1')).toEqual({ status: 'deleted' });
      await client.call(sandboxFiles.DeleteFiles, {
        params: params(),
        query: { path: ['/workspace/r/2'] },
        body: {},
      });
      expect(await sh('ls /workspace/r')).toBe('');
    });

    test('are moved as rename does it; when one is missing none is', async () => {
      await sh(
        'rm -rf /workspace/m; mkdir -p /workspace/m/d /workspace/m/full; cd /workspace/m; echo a > a; echo b > b; : > full/x',
      );
      const move = (...moves: Array<[string, string]>) =>
        client.call(sandboxFiles.MoveFiles, {
          params: params(),
          body: moves.map(([src, dest]) => ({ src: `/workspace/m/${src}`, dest: `/workspace/m/${dest}` })),
        });
      expect(await refused(move(['a', 'c'], ['none', 'x']))).toMatchObject({ http: 404 });
      expect(await sh('ls /workspace/m')).toBe('a\nb\nd\nfull\n');
      expect(await refused(move(['d', 'full']))).toMatchObject({ http: 409, code: 'directory_not_empty' });
      expect(await refused(move(['a', 'd']))).toMatchObject({ http: 409 });
      expect(await refused(move(['a', 'nowhere/a']))).toMatchObject({
        http: 404,
        message: expect.stringContaining('nowhere'),
      });
      await move(['a', 'b'], ['d', 'e']);
      expect(await sh('cd /workspace/m; ls; cat b')).toBe('b\ne\nfull\na\n');
    });

    test('are moved to another file system', async () => {
      await sh(
        'rm -rf /workspace/x /dev/shm/x; mkdir -p /workspace/x/s; cd /workspace/x; echo deep > s/f; chmod 640 s/f; ln -s s/f l',
      );
      await client.call(sandboxFiles.MoveFiles, {
        params: params(),
        body: [{ src: '/workspace/x', dest: '/dev/shm/x' }],
      });
      expect(await sh('cd /dev/shm/x; cat l; stat -c %a s/f; ls -d /workspace/x 2>/dev/null || true')).toBe(
        'deep\n640\n',
      );
    });

    test('get owner, group and mode; when one is missing none does', async () => {
      await write('/workspace/p', 'x');
      const permit = (body: Record<string, object>) =>
        client.call(sandboxFiles.SetFilePermissions, { params: params(), body });
      expect(
        await refused(permit({ '/workspace/p': { mode: 600 }, '/workspace/none': { mode: 600 } })),
      ).toMatchObject({ http: 404 });
      expect(await info('/workspace/p')).toMatchObject({ mode: 644 });
      await permit({ '/workspace/p': { owner: 'root', group: '7', mode: 4751 } });
      expect(await info('/workspace/p')).toMatchObject({ owner: 'root', mode: 4751 });
      expect(await sh('stat -c %u:%g:%a /workspace/p')).toBe('0:7:4751\n');
      expect(await refused(permit({ '/workspace/p': { mode: 777 } }))).toMatchObject({ http: 403 });
    });

    test('get text replaced by the letter; when one is missing none does', async () => {
      await write('/workspace/c/1', 'a.b a.b axb', { mode: 700 });
      await write('/workspace/c/2', 'nothing');
      const replace = (body: Record<string, { old: string; new: string }>, verbose?: boolean) =>
        client.call(sandboxFiles.ReplaceInFiles, { params: params(), query: { verbose }, body });
      expect(
        await refused(
          replace({ '/workspace/c/1': { old: 'a.b', new: '$&' }, '/workspace/c/3': { old: 'x', new: 'y' } }),
        ),
      ).toMatchObject({ http: 404 });
      expect(
        await replace(
          { '/workspace/c/1': { old: 'a.b', new: '$&' }, '/workspace/c/2': { old: 'x', new: 'y' } },
          true,
        ),
      ).toEqual({
        '/workspace/c/1': { replacedCount: 2 },
        '/workspace/c/2': { replacedCount: 0 },
      });
      expect(await text('/workspace/c/1')).toBe('$& $& axb');
      expect(await info('/workspace/c/1')).toMatchObject({ mode: 700 });
      expect(await replace({ '/workspace/c/1': { old: 'axb', new: '' } })).toEqual({});
    });

    test('below a path get text replaced, but binary ones and those of others do not', async () => {
      await sh(
        'rm -rf /workspace/g; mkdir -p /workspace/g/s; cd /workspace/g; echo "v1 v1" > a; echo v1 > s/b; printf "v1\\000" > bin; ln -s ../../etc/passwd l; echo none > c',
      );
      await sh('echo v1 > /workspace/g/root; chmod 644 /workspace/g/root', 0);
      const replace = (dry_run: boolean) =>
        client.call(sandboxFiles.GlobalReplace, {
          params: params(),
          body: { path: '/workspace/g', pattern: 'v1', replacement: 'v2', dry_run },
        });
      const sorted = (list: Awaited<ReturnType<typeof replace>>) =>
        list.map(({ file, success, count }) => [file?.slice(13), success, count]).sort();
      expect(sorted(await replace(true))).toEqual([
        ['a', true, 2],
        ['root', true, 1],
        ['s/b', true, 1],
      ]);
      expect(await text('/workspace/g/a')).toBe('v1 v1\n');
      expect(sorted(await replace(false))).toEqual([
        ['a', true, 2],
        ['root', false, 0],
        ['s/b', true, 1],
      ]);
      expect(await sh('cd /workspace/g; cat a s/b root; stat -c %s bin')).toBe('v2 v2\nv2\nv1\n3\n');
    });

    test('are found by name and by content', async () => {
      await sh(
        'rm -rf /workspace/f; mkdir -p /workspace/f/src/in; cd /workspace/f; echo "let x = 1:2;" > src/a.ts; echo "let y" > src/in/b.ts; : > src/c.js; ln -s / src/loop',
      );
      const find = async (pattern: string) =>
        (
          await client.call(sandboxFiles.SearchFiles, {
            params: params(),
            query: { path: '/workspace/f', pattern },
          })
        )
          .map(({ path }) => path.slice(13))
          .sort();
      expect(await find('*.ts')).toEqual(['src/a.ts', 'src/in/b.ts']);
      expect(await find('src/*.{ts,js}')).toEqual(['src/a.ts', 'src/c.js']);
      expect(await find('**/b.*')).toEqual(['src/in/b.ts']);
      const grep = (pattern: string, path = '/workspace/f') =>
        client.call(sandboxFiles.SearchFileContents, { params: params(), query: { path, pattern } });
      expect((await grep('let [xy]')).sort((a, b) => (a.file < b.file ? -1 : 1))).toEqual([
        { file: '/workspace/f/src/a.ts', line: 1, content: 'let x = 1:2;' },
        { file: '/workspace/f/src/in/b.ts', line: 1, content: 'let y' },
      ]);
      expect(await grep('no such text')).toEqual([]);
      expect(await grep('-e', '/workspace/f/src/a.ts')).toEqual([]);
      expect(await refused(grep('('))).toMatchObject({
        http: 400,
        message: expect.stringContaining('pattern'),
      });
      expect(await refused(grep('x', '/workspace/none'))).toMatchObject({ http: 404 });
    });

    test('are described, links as themselves', async () => {
      await sh('rm -f /workspace/i*; printf 12345 > /workspace/i; ln -s i /workspace/il');
      const found = await client.call(sandboxFiles.GetFileInfo, {
        params: params(),
        query: { path: ['/workspace/i', '/workspace/il'] },
      });
      expect(found['/workspace/i']).toMatchObject({ type: 'file', size: 5, path: '/workspace/i' });
      expect(found['/workspace/il']).toMatchObject({ type: 'symlink', target: 'i' });
      expect(Math.abs(Date.parse(found['/workspace/i']?.modified_at ?? '') - Date.now())).toBeLessThan(
        60_000,
      );
      expect(await refused(info('/workspace/none'))).toMatchObject({
        http: 404,
        message: expect.stringContaining('/workspace/none'),
      });
    });

    test('are written piece by piece', async () => {
      const put = (path: string, body: string, more: Record<string, string> = {}) =>
        daemon.fetch(url('files/content', { path, ...more }), {
          method: 'PUT',
          body,
          headers: { 'content-type': 'application/octet-stream' },
        });
      expect(await (await put('/workspace/pieces', '0123456789', { mode: '600' })).json()).toEqual({
        path: '/workspace/pieces',
        size: 10,
      });
      expect((await put('/workspace/pieces', 'ab', { offset: '4' })).status).toBe(200);
      expect(await text('/workspace/pieces')).toBe('0123ab6789');
      expect((await put('/workspace/none', 'ab', { offset: '4' })).status).toBe(404);
    });
  });

  test('a full disk is told, and nothing is left', async () => {
    const free = Number((await sh("df -k /dev/shm | tail -1 | awk '{print $4}'")).trim());
    if (free > 600 * 1024) return;
    await sh(`head -c ${Math.max(0, free - 1024) * 1024} /dev/zero > /dev/shm/filler`);
    const response = await upload([[{ path: '/dev/shm/big' }, new Uint8Array(2 * 1024 * 1024)]]);
    expect(response.status).toBe(507);
    expect(await response.text()).toContain('disk_full');
    expect(await sh('ls -A /dev/shm | grep -v ^x; rm /dev/shm/filler')).toBe('filler\n');
  });

  test('a sandbox that sleeps has no files to ask for, and has them again when it is woken', async () => {
    const sandboxId = await newSandbox(client);
    const ask = () =>
      client.call(sandboxFiles.GetFileInfo, { params: { sandboxId }, query: { path: ['/etc/passwd'] } });
    await ask();
    await client.call(sandboxLifecycle.StopSandbox, { params: { sandboxId }, body: {} });
    expect(await refused(ask())).toMatchObject({ http: 409 });
    await client.call(sandboxLifecycle.ReviveSandbox, { params: { sandboxId }, body: {} });
    expect(Object.keys(await ask())).toEqual(['/etc/passwd']);
    await client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId }, body: {} });
  });

  test('the process that serves them may be killed from inside', async () => {
    await info('/etc/passwd');
    await run(client, id, 'kill -9 -1');
    const found = await info('/etc/passwd').catch(() => info('/etc/passwd'));
    expect(found).toMatchObject({ type: 'file' });
  });
});

function residentMb(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}
