import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { sandboxLifecycle } from '../src/api/sandbox/lifecycle.ts';
import { sandboxPorts } from '../src/api/sandbox/ports.ts';
import { type Client, createClient } from '../src/client/client.ts';
import { freePort, startDaemon, svcCommand, type TestDaemon } from './support/daemon.ts';
import { driverCases } from './support/drivers.ts';
import { type BoxServer, openSocket, startApp, visit } from './support/preview-scene.ts';
import { clientOf, newSandbox, run, until } from './support/scene.ts';
import { TwoTenants } from './support/tenants/two-tenants.ts';

setDefaultTimeout(60_000);

const MIB = 1024 * 1024;
/** Megabytes of an answer, and of an upload, which the instance limits. */
const FLOW_MB = Number(process.env.SVC_TEST_PREVIEW_MB ?? 300);
const UPLOAD_MB = Math.min(FLOW_MB, 200);

/** Serves files at a port of the loopback with what an image has. */
const FILE_SERVER = (port: number) =>
  `mkdir -p /tmp/site && echo served >/tmp/site/note.txt && cd /tmp/site && if command -v python3 >/dev/null; then exec python3 -m http.server ${port} --bind 127.0.0.1; else exec httpd -f -p 127.0.0.1:${port} -h /tmp/site; fi`;

describe.each(driverCases)('ports of sandboxes on the $name driver', ({ env }) => {
  let daemon: TestDaemon;
  let client: Client;
  let id: string;
  let app: BoxServer;
  let url: string;

  const expose = async (sessionId: string, port: number) =>
    (await client.call(sandboxPorts.ExposePort, { params: { sessionId }, body: { port } })).mapping?.url ??
    '';
  const unexpose = (sessionId: string, port: number) =>
    client.call(sandboxPorts.UnexposePort, { params: { sessionId, port } });
  const sign = async (sandboxId: string, port: number, expires_in_seconds?: number) =>
    (
      await client.call(sandboxPorts.CreatePreviewUrl, {
        params: { sandboxId },
        body: { port, expires_in_seconds },
      })
    ).url;
  const refused = async (attempt: Promise<unknown>) =>
    (await attempt.then(
      () => undefined,
      (error: unknown) => error,
    )) as { http: number; message: string };
  const terminate = (sandboxId: string) =>
    client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId }, body: {} });

  beforeAll(async () => {
    daemon = await startDaemon({ env });
    client = clientOf(daemon);
    id = await newSandbox(client, { networkMode: 'deny', timeoutSeconds: 0 });
    app = await startApp(client, id, 3000);
    url = await expose(id, 3000);
  });
  afterAll(async () => {
    await app?.stop();
    const { instances = [] } = await client.call(sandboxLifecycle.ListSandboxInstances, {
      query: { limit: 500 },
    });
    for (const one of instances) await terminate(one.id ?? '');
    await daemon.stop();
  });

  describe('what listens', () => {
    test('is found with its process, and served under an address of its own', async () => {
      const box = await newSandbox(client, { networkMode: 'deny' });
      await run(client, box, FILE_SERVER(8000), { background: true });
      const detect = async () =>
        (await client.call(sandboxPorts.DetectListeningPorts, { params: { sessionId: box } })).ports ?? [];
      const [found] = await until(async () => {
        const ports = await detect();
        return ports.length > 0 && ports;
      });
      expect(found).toMatchObject({ port: 8000, protocol: 'tcp', address: '127.0.0.1', isExposed: false });
      expect(found?.process).toMatch(/^(python3|httpd|busybox)$/);
      const inside = (await run(client, box, `cat /proc/${found?.pid}/comm`)).stdout;
      expect(inside.trim()).toBe(found?.process ?? '');
      const address = await expose(box, 8000);
      expect((await detect())[0]).toMatchObject({ isExposed: true });
      const answer = await visit(address, '/note.txt');
      expect([answer.status, await answer.text()]).toEqual([200, 'served\n']);
      await terminate(box);
      expect((await visit(address, '/note.txt')).status).toBe(404);
    });

    test('in a sandbox that does not run is 409, in none 404', async () => {
      const box = await newSandbox(client, { networkMode: 'deny' });
      await client.call(sandboxLifecycle.StopSandbox, { params: { sandboxId: box }, body: {} });
      const detect = (sessionId: string) =>
        client.call(sandboxPorts.DetectListeningPorts, { params: { sessionId } });
      expect(await refused(detect(box))).toMatchObject({ http: 409 });
      expect(await refused(detect('sbx_nobody'))).toMatchObject({ http: 404 });
      await terminate(box);
    });
  });

  describe('exposing', () => {
    test('answers the same address when it is asked again, and lists it', async () => {
      expect(await expose(id, 3000)).toBe(url);
      const { ports } = await client.call(sandboxPorts.ListExposedPorts, { params: { sessionId: id } });
      expect(ports).toEqual([
        expect.objectContaining({ sandboxId: id, port: 3000, protocol: 'http', status: 'active', url }),
      ]);
      expect(new URL(url).hostname).toBe(`${ports?.[0]?.subdomain}.preview.localhost`);
      expect(ports?.[0]?.subdomain).toMatch(/^3000-[a-z2-7]{32}$/);
    });

    test.each<[Record<string, unknown>, number, string]>([
      [{}, 400, 'port'],
      [{ port: 0 }, 400, 'port'],
      [{ port: 65_536 }, 400, 'port'],
      [{ port: 80, protocol: 'udp' }, 400, 'protocol'],
    ])('%j is refused and changes nothing', async (body, http, field) => {
      const error = await refused(client.call(sandboxPorts.ExposePort, { params: { sessionId: id }, body }));
      expect(error).toMatchObject({ http, message: expect.stringContaining(field) });
      const { ports } = await client.call(sandboxPorts.ListExposedPorts, { params: { sessionId: id } });
      expect(ports).toHaveLength(1);
    });

    test('ends at once, also for connections that are open; the next address is another one', async () => {
      const second = await startApp(client, id, 3001);
      const address = await expose(id, 3001);
      const link = await sign(id, 3001);
      const socket = openSocket(address, '/socket');
      await socket.opened;
      const stream = await visit(address, '/events');
      const reading = stream.text().catch(() => 'cut');
      await unexpose(id, 3001);
      expect(await socket.closed).toMatchObject({ code: 1001 });
      await reading;
      expect((await visit(address)).status).toBe(404);
      expect((await visit(link)).status).toBe(404);
      expect(await refused(unexpose(id, 3001))).toMatchObject({ http: 404 });
      const again = await expose(id, 3001);
      expect(again).not.toBe(address);
      expect((await visit(again)).status).toBe(200);
      expect((await visit(address)).status).toBe(404);
      await unexpose(id, 3001);
      await second.stop();
    });
  });

  describe('a preview', () => {
    const echo = async (path = '/echo', init: RequestInit = {}) =>
      (await visit(url, path, init)).json() as Promise<{
        method: string;
        url: string;
        headers: Record<string, string | undefined>;
        rawHeaders: string[];
        body: string;
      }>;

    test('passes method, path, query, headers and body as they are', async () => {
      const path = '/echo?a=%2F%20b&c=ü&a=2&empty=&flag';
      const headers = { 'x-own': 'yes', authorization: 'Basic YTpi', cookie: 'app=1; other=2' };
      const seen = await echo(path, { method: 'PUT', headers, body: 'héllo' });
      expect(seen).toMatchObject({ method: 'PUT', body: 'héllo' });
      expect(seen.url).toBe('/echo?a=%2F%20b&c=%C3%BC&a=2&empty=&flag');
      expect(seen.headers).toMatchObject({ ...headers, host: new URL(url).host });
      expect(seen.headers).toMatchObject({ 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'http' });
      expect(seen.headers['x-forwarded-host']).toBe(new URL(url).host);
    });

    test('is reached with the token first, too', async () => {
      const { hostname, port } = new URL(url);
      const [, first, token] = /^(\d+)-([a-z2-7]+)\./.exec(hostname) ?? [];
      expect((await visit(`http://${token}-${first}.preview.localhost:${port}`)).status).toBe(200);
    });

    test('tells the sandbox nothing of this instance', async () => {
      const seen = await echo('/echo', {
        headers: {
          cookie: 'es_svc_session=secret; app=1; svc_preview=secret; __Host-es_svc_session=secret',
          'x-svc-api-key': daemon.apiKey,
          'x-s-api-key': daemon.apiKey,
          'x-svc-preview-token': 'secret',
          authorization: `Bearer ${daemon.apiKey}`,
          'x-forwarded-for': '8.8.8.8',
          forwarded: 'for=8.8.8.8',
        },
      });
      expect(seen.headers.cookie).toBe('app=1');
      expect(seen.headers['x-forwarded-for']).toBe('127.0.0.1');
      expect(JSON.stringify(seen)).not.toMatch(/secret|8\.8\.8\.8/);
      expect(JSON.stringify(seen)).not.toContain(daemon.apiKey);
    });

    test('lets no cookie of this instance and of the parent host out, and keeps hop-by-hop headers', async () => {
      const { headers } = await visit(url, '/cookies');
      expect(headers.getSetCookie()).toEqual(['app=1; Path=/; HttpOnly', 'wide=1; Path=/']);
      for (const name of ['clear-site-data', 'alt-svc', 'x-hop']) expect(headers.get(name)).toBeNull();
      expect(headers.get('x-kept')).toBe('1');
    });

    test('keeps what the application answers: status, range, redirect, encoding, HEAD', async () => {
      expect((await visit(url, '/unchanged')).status).toBe(304);
      expect((await visit(url, '/unchanged')).headers.get('etag')).toBe('"one"');
      const part = await visit(url, '/range', { headers: { range: 'bytes=0-1' } });
      expect([part.status, part.headers.get('x-range'), await part.text()]).toEqual([206, 'bytes=0-1', '01']);
      const sent = await visit(url, '/redirect');
      expect([sent.status, sent.headers.get('location')]).toEqual([
        302,
        'https://elsewhere.example/path?x=1',
      ]);
      const packed = await visit(url, '/gzip', { decompress: false } as RequestInit);
      expect(packed.headers.get('content-encoding')).toBe('gzip');
      const bytes = Bun.gunzipSync(new Uint8Array(await packed.arrayBuffer()));
      expect(Buffer.from(bytes).toString()).toBe('packed'.repeat(1000));
      const head = await visit(url, '/left', { method: 'HEAD' });
      expect([head.status, await head.text()]).toEqual([200, '']);
    });

    test('streams events as they come, and the application notices when the reader leaves', async () => {
      const before = Number(await (await visit(url, '/left')).text());
      const controller = new AbortController();
      const response = await visit(url, '/events', { signal: controller.signal });
      const reader = response.body?.getReader();
      const first = await reader?.read();
      expect(new TextDecoder().decode(first?.value)).toStartWith('data: 0\n\n');
      controller.abort();
      await until(async () => Number(await (await visit(url, '/left')).text()) > before);
    });

    test('whose visitor leaves before there is an answer ends the request', async () => {
      const before = Number(await (await visit(url, '/left')).text());
      const controller = new AbortController();
      const waiting = visit(url, '/slow', { signal: controller.signal }).catch(() => undefined);
      await Bun.sleep(100);
      controller.abort();
      await waiting;
      await until(async () => Number(await (await visit(url, '/left')).text()) > before);
    });

    test(`carries ${FLOW_MB} MB out and ${UPLOAD_MB} MB in with bounded memory`, async () => {
      const before = residentMb(daemon.pid);
      let peak = before;
      let bytes = 0;
      const response = await visit(url, `/flow?mb=${FLOW_MB}`);
      for await (const chunk of response.body ?? []) {
        bytes += chunk.length;
        if (bytes % (16 * MIB) < chunk.length) peak = Math.max(peak, residentMb(daemon.pid));
      }
      expect(bytes).toBe(FLOW_MB * MIB);
      const hash = createHash('sha256');
      const block = crypto.getRandomValues(new Uint8Array(MIB));
      let left = UPLOAD_MB;
      const body = new ReadableStream({
        pull(controller) {
          if (left-- === 0) return controller.close();
          hash.update(block);
          peak = Math.max(peak, residentMb(daemon.pid));
          controller.enqueue(block.slice());
        },
      });
      const stored = (await (await visit(url, '/upload', { method: 'POST', body })).json()) as object;
      expect(stored).toEqual({ bytes: UPLOAD_MB * MIB, sha256: hash.digest('hex') });
      expect(peak - before).toBeLessThan(200);
    });

    test('sends nothing into a kept connection that the application has closed', async () => {
      for (let i = 0; i < 5; i++) {
        expect(await (await visit(url, '/hang-up')).text()).toBe('bye');
        await Bun.sleep(120);
        expect(await echo('/echo', { method: 'POST', body: 'again' })).toMatchObject({ body: 'again' });
      }
    });

    test('of an answer that is cut off is cut off, and of one that is no HTTP says so', async () => {
      const half = await visit(url, '/cut');
      expect(await half.text().catch(() => 'cut')).not.toBe('half');
      const wrong = await visit(url, '/nonsense', { headers: { accept: 'text/html' } });
      expect(wrong.status).toBe(502);
      expect(await wrong.text()).toContain('The server in the sandbox did not answer');
    });

    test('of a port that nothing listens on tells what to run', async () => {
      const address = await expose(id, 3999);
      const page = await visit(address, '/', { headers: { accept: 'text/html' } });
      expect(page.status).toBe(502);
      expect(await page.text()).toContain('python3 -m http.server 3999');
      const answer = await visit(address);
      expect(await answer.json()).toMatchObject({ code: 502, message: expect.stringContaining('3999') });
      await unexpose(id, 3999);
    });

    test('is no way to the operations, pages and cookies of the instance', async () => {
      const key = { 'x-svc-api-key': daemon.apiKey };
      for (const path of [
        '/v1/sandbox/instances',
        '/v1/auth/session',
        '/healthz',
        '/openapi.json',
        '/docs',
      ]) {
        const answer = await visit(url, path, { headers: key });
        expect([path, answer.status, await answer.text()]).toEqual([path, 404, `nothing at ${path}`]);
      }
      const create = await visit(url, '/v1/sandbox', { method: 'POST', headers: key, body: '{}' });
      expect(await create.text()).toBe('nothing at /v1/sandbox');
    });

    test('of another token or port is nothing, and other hosts are not ours', async () => {
      const { port, hostname } = new URL(url);
      const guess = hostname.replace(/-[a-z2-7]/, (match) => `-${match === '-a' ? 'b' : 'a'}`);
      for (const host of [guess, hostname.replace('3000', '3001')])
        expect((await visit(`http://${host}:${port}`)).status).toBe(404);
      const foreign = ['preview.localhost', 'x.preview.localhost', 'xpreview.localhost'];
      for (const host of [...foreign, `a.${hostname}`, `${hostname}.evil.example`])
        expect((await visit(`http://${host}:${port}`)).status).toBe(421);
    });

    test.each([
      ['two lengths', 'Content-Length: 5\r\nContent-Length: 6\r\n', 'AAAAAA'],
      [
        'a length and chunks',
        'Content-Length: 40\r\nTransfer-Encoding: chunked\r\n',
        '0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n',
      ],
      ['an unknown coding', 'Transfer-Encoding: xchunked\r\n', '0\r\n\r\n'],
      [
        'a space before the colon',
        'Transfer-Encoding : chunked\r\n',
        '0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n',
      ],
      ['a signed length', 'Content-Length: +5\r\n', 'AAAAA'],
      ['a line feed in a header', 'X-A: b\nTransfer-Encoding: chunked\r\n', ''],
      ['a hop named twice', 'Connection: close, x-own, host\r\nx-own: 1\r\n', ''],
    ])('smuggles nothing with %s', async (_, lines, rest) => {
      const { host, port } = new URL(url);
      const text = await exchange(
        Number(port),
        `POST /echo HTTP/1.1\r\nHost: ${host}\r\n${lines}\r\n${rest}`,
      );
      expect(text.match(/HTTP\/1\.1 200/g)?.length ?? 0).toBeLessThanOrEqual(1);
      expect(text).not.toContain('/smuggled');
      expect(text).not.toContain('"x-own"');
      expect((await echo('/echo?after')).url).toBe('/echo?after');
    });
  });

  describe('a WebSocket', () => {
    test('carries text and bytes both ways with its subprotocol and its closing code', async () => {
      const socket = openSocket(url, '/socket', { protocols: ['chat', 'other'] });
      await socket.opened;
      expect(socket.socket.protocol).toBe('chat');
      socket.socket.send('text ü');
      expect((await socket.next()).toString()).toBe('text ü');
      const bytes = crypto.getRandomValues(new Uint8Array(5 * MIB));
      socket.socket.send(bytes);
      expect((await socket.next()).equals(Buffer.from(bytes))).toBe(true);
      socket.socket.send('close with 4007');
      expect(await socket.closed).toEqual({ code: 4007, reason: 'as asked' });
    });

    test('that the application refuses is refused with its answer', async () => {
      expect(String(await openSocket(url, '/refused').opened.catch((error) => error))).toContain('403');
    });

    test('holds the application back when the browser reads slowly, and loses nothing', async () => {
      const socket = openSocket(url, '/flood');
      await socket.opened;
      socket.socket.pause();
      await Bun.sleep(300);
      socket.socket.resume();
      for (let i = 0; i < 64; i++) {
        const bytes = await socket.next();
        expect([bytes.length, bytes[0]]).toEqual([256 * 1024, i]);
      }
      socket.socket.close();
    });

    test('keeps an idle sandbox awake', async () => {
      const box = await newSandbox(client, { networkMode: 'deny', idleRetentionSeconds: 1 });
      const server = await startApp(client, box, 3000);
      const socket = openSocket(await expose(box, 3000), '/socket');
      await socket.opened;
      await Bun.sleep(4_000);
      socket.socket.send('still here');
      expect((await socket.next()).toString()).toBe('still here');
      socket.socket.close();
      await server.stop();
      await terminate(box);
    });
  });

  describe('a signed link', () => {
    const PORT = 3000;
    let box: string;
    let server: BoxServer;
    beforeAll(async () => {
      box = await newSandbox(client, { networkMode: 'deny', timeoutSeconds: 0 });
      server = await startApp(client, box, PORT);
    });
    afterAll(() => server?.stop());

    const navigate = { accept: 'text/html', 'sec-fetch-mode': 'navigate' };
    const withoutToken = (link: string) => link.replace(/\?.*/, '');

    test('opens a port that is not exposed, which stays closed without it', async () => {
      const link = await sign(box, PORT);
      expect((await visit(withoutToken(link))).status).toBe(403);
      const seen = (await (await visit(link, '/echo?mine=1')).json()) as { url: string };
      expect(seen.url).toBe('/echo?mine=1');
      const token = new URL(link).searchParams.get('_preview_token') ?? '';
      const header = await visit(withoutToken(link), '/echo', { headers: { 'x-svc-preview-token': token } });
      expect(JSON.stringify(await header.json())).not.toContain(token);
      const { ports } = await client.call(sandboxPorts.ListExposedPorts, { params: { sessionId: box } });
      expect(ports).toEqual([]);
    });

    test('becomes a cookie of its host in a browser, which fetches and WebSockets use', async () => {
      const link = await sign(box, PORT, 60);
      const first = await visit(link, '/echo?a=1', { headers: navigate });
      expect(first.status).toBe(303);
      expect(first.headers.get('location')).toBe(`${withoutToken(link)}echo?a=1`);
      const [cookie = '', frame = ''] = first.headers.getSetCookie();
      expect(cookie).toMatch(/^svc_preview=[^;]+; Path=\/; Max-Age=(60|59); HttpOnly; SameSite=Lax$/);
      expect(frame).toMatch(/^svc_preview_frame=[^;]+; .*HttpOnly; SameSite=None; Secure; Partitioned$/);
      const headers = { cookie: cookie.split(';')[0] ?? '' };
      expect(await (await visit(withoutToken(link), '/echo', { headers })).json()).not.toHaveProperty(
        'headers.cookie',
      );
      const socket = openSocket(withoutToken(link), '/socket', { headers });
      await socket.opened;
      socket.socket.close();
    });

    test('does not send anybody to another host', async () => {
      const link = await sign(box, PORT);
      const { host, port, search } = new URL(link);
      for (const path of ['//evil.example/x', '/\\evil.example', 'http://evil.example/x']) {
        const head = `GET ${path}${search} HTTP/1.1\r\nHost: ${host}\r\nAccept: text/html\r\n\r\n`;
        const sent = await exchange(Number(port), head);
        const location = /^location: (.*)$/im.exec(sent)?.[1] ?? '';
        expect([path, location === '' || new URL(location).host === host]).toEqual([path, true]);
      }
    });

    test('is good for its port and its sandbox alone, until it expires', async () => {
      const link = new URL(await sign(box, PORT));
      const other = new URL(await sign(box, 3005));
      const foreign = new URL(await sign(id, PORT));
      const token = link.searchParams.get('_preview_token') ?? '';
      const [version, payload = '', mac = ''] = token.split('.');
      const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
      const longer = Buffer.from(JSON.stringify({ ...claims, expires: claims.expires + 1 })).toString(
        'base64url',
      );
      const bad = [
        other.searchParams.get('_preview_token'),
        foreign.searchParams.get('_preview_token'),
        `${version}.${longer}.${mac}`,
        `${version}.${payload}.${Buffer.alloc(32).toString('base64url')}`,
        `${version}.${payload}`,
        'x'.repeat(10_000),
        '',
      ];
      for (const forged of bad)
        expect((await visit(`${link.origin}/?_preview_token=${forged}`)).status).toBe(403);
      expect((await visit(link.href)).status).toBe(200);
      const short = await sign(box, PORT, 1);
      await Bun.sleep(2_100);
      expect((await visit(short, '/', { headers: navigate })).status).toBe(403);
    });

    test.each([0, -1, 86_401])('of %d seconds is refused', async (seconds) => {
      expect(await refused(sign(box, PORT, seconds))).toMatchObject({
        http: 400,
        message: expect.stringContaining('expires_in_seconds'),
      });
    });

    test('ends when its port is taken away, and when its sandbox is terminated', async () => {
      const link = await sign(box, PORT);
      await unexpose(box, PORT);
      expect((await visit(link)).status).toBe(404);
      const next = await sign(box, PORT);
      expect((await visit(link)).status).toBe(404);
      expect((await visit(next)).status).toBe(200);
      await terminate(box);
      expect((await visit(next)).status).toBe(404);
    });
  });

  describe('a sandbox that sleeps', () => {
    test('keeps the addresses of its ports, and says that it sleeps', async () => {
      const box = await newSandbox(client, { networkMode: 'deny' });
      const address = await expose(box, 3000);
      await client.call(sandboxLifecycle.StopSandbox, { params: { sandboxId: box }, body: {} });
      const page = await visit(address, '/', { headers: { accept: 'text/html' } });
      expect([page.status, await page.text()]).toEqual([503, expect.stringContaining('sleeping')]);
      await client.call(sandboxLifecycle.ReviveSandbox, { params: { sandboxId: box }, body: {} });
      const server = await startApp(client, box, 3000);
      expect((await visit(address)).status).toBe(200);
      await server.stop();
      await terminate(box);
    });

    test('wakes once for many visitors when it was made to, and they wait until it answers', async () => {
      const box = await newSandbox(client, { networkMode: 'deny', wakeOnRequest: true });
      const address = await expose(box, 3000);
      await client.call(sandboxLifecycle.StopSandbox, { params: { sandboxId: box }, body: {} });
      const visits = Promise.all(Array.from({ length: 10 }, () => visit(address)));
      await until(async () => (await run(client, box, 'true').catch(() => undefined))?.code === 0);
      const server = await startApp(client, box, 3000);
      expect((await visits).map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
      await server.stop();
      await terminate(box);
    });

    test('runs the wake command of its port when a visitor wakes it', async () => {
      const box = await newSandbox(client, { networkMode: 'deny' });
      const { mapping } = await client.call(sandboxPorts.ExposePort, {
        params: { sessionId: box },
        body: { port: 8000, wakeCommand: FILE_SERVER(8000) },
      });
      const address = mapping?.url ?? '';
      await client.call(sandboxLifecycle.StopSandbox, { params: { sandboxId: box }, body: {} });
      const answers = await Promise.all([1, 2, 3].map(() => visit(address, '/note.txt')));
      for (const answer of answers) expect([answer.status, await answer.text()]).toEqual([200, 'served\n']);
      expect(await expose(box, 8000)).toBe(address);
      const { ports } = await client.call(sandboxPorts.ListExposedPorts, { params: { sessionId: box } });
      expect(ports?.[0]?.wakeCommand).toContain('http');
      await terminate(box);
    });

    test('ends open connections when it is stopped', async () => {
      const box = await newSandbox(client, { networkMode: 'deny' });
      const server = await startApp(client, box, 3000);
      const socket = openSocket(await expose(box, 3000), '/socket');
      await socket.opened;
      await client.call(sandboxLifecycle.StopSandbox, { params: { sandboxId: box }, body: {} });
      expect(await socket.closed).toMatchObject({ code: 1001 });
      await server.stop();
      await terminate(box);
    });
  });

  test('the addresses outlive the daemon', async () => {
    const first = await startDaemon({ env });
    const before = clientOf(first);
    const box = await newSandbox(before, { networkMode: 'deny' });
    const { mapping } = await before.call(sandboxPorts.ExposePort, {
      params: { sessionId: box },
      body: { port: 3000 },
    });
    await first.kill9();
    const second = await startDaemon({ env, dataDir: first.dataDir, apiKey: first.apiKey });
    const after = clientOf(second);
    const server = await startApp(after, box, 3000);
    const address = new URL(mapping?.url ?? '');
    address.port = new URL(second.url).port;
    expect((await visit(address.href)).status).toBe(200);
    await after.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId: box }, body: {} });
    await server.stop();
    await second.stop();
  });

  test('the commands find, expose, sign and take away', async () => {
    const svc = async (...words: string[]) => {
      const child = Bun.spawn([...svcCommand(), 'sandbox', ...words], {
        env: { ...process.env, SVC_API_URL: daemon.url, SVC_API_KEY: daemon.apiKey },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const [out, err, code] = [
        Bun.readableStreamToText(child.stdout),
        Bun.readableStreamToText(child.stderr),
        child.exited,
      ];
      return { out: await out, err: await err, code: await code };
    };
    expect((await svc('ports', 'detect', id)).out).toContain('3000\ttcp\t127.0.0.1');
    const exposed = (await svc('ports', 'expose', id, '3000')).out.trim();
    expect(exposed).toBe(url);
    expect((await svc('ports', 'list', id)).out).toContain(`3000\t${url}\tactive`);
    const link = (await svc('preview', id, '3006', '--expires', '5m')).out.trim();
    expect(link).toMatch(/^http:.*_preview_token=/);
    expect((await visit(link)).status).toBe(502);
    if (!Bun.which('xdg-open'))
      expect(await svc('preview', id, '3006', '--open')).toMatchObject({
        code: 6,
        err: expect.stringContaining('browser'),
      });
    expect(await svc('ports', 'unexpose', id, '3006')).toMatchObject({ code: 0, out: '' });
    expect(await svc('ports', 'unexpose', id, '3006')).toMatchObject({ code: 5 });
    expect(await svc('ports', 'expose', id, '70000')).toMatchObject({ code: 2 });
  });

  test('a port of this machine leads into a sandbox', async () => {
    const local = freePort();
    const forward = Bun.spawn([...svcCommand(), 'sandbox', 'forward', id, `${local}:3000`], {
      env: { ...process.env, SVC_API_URL: daemon.url, SVC_API_KEY: daemon.apiKey },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await forward.stderr.getReader().read();
    const answer = await fetch(`http://127.0.0.1:${local}/echo`, {
      method: 'POST',
      body: 'x'.repeat(3 * MIB),
    });
    const seen = (await answer.json()) as { body: string };
    expect(seen.body).toHaveLength(3 * MIB);
    const flow = await fetch(`http://127.0.0.1:${local}/flow?mb=32`);
    expect((await flow.arrayBuffer()).byteLength).toBe(32 * MIB);
    forward.kill('SIGINT');
    await forward.exited;
  });
});

test.skipIf(driverCases.length === 0)('another tenant reaches and changes none of it', async () => {
  const tenants = await TwoTenants.start({ env: driverCases[0]?.env });
  const client = clientOf(tenants.daemon);
  const { session } = await tenants.stranger('sam');
  const { key } = await tenants.key(tenants.fromPage(session), { name: 'sam' });
  const stranger = createClient({ url: tenants.daemon.url, apiKey: key });
  const [mine, theirs] = [
    await newSandbox(client, { networkMode: 'deny' }),
    await newSandbox(stranger, { networkMode: 'deny' }),
  ];
  try {
    const params = { sessionId: mine };
    const expose = (who: Client, sessionId: string) =>
      who.call(sandboxPorts.ExposePort, { params: { sessionId }, body: { port: 3000 } });
    const link = await client.call(sandboxPorts.CreatePreviewUrl, {
      params: { sandboxId: mine },
      body: { port: 3000 },
    });
    await expose(stranger, theirs);
    const attempts = [
      stranger.call(sandboxPorts.ListExposedPorts, { params }),
      expose(stranger, mine),
      stranger.call(sandboxPorts.DetectListeningPorts, { params }),
      stranger.call(sandboxPorts.UnexposePort, { params: { ...params, port: 3000 } }),
      stranger.call(sandboxPorts.CreatePreviewUrl, { params: { sandboxId: mine }, body: { port: 3000 } }),
      stranger.socket(sandboxPorts.ConnectSandboxPort, { params: { sandboxId: mine, port: 3000 } }),
    ];
    for (const attempt of await Promise.allSettled(attempts))
      expect(attempt).toMatchObject({ status: 'rejected', reason: { http: 404 } });
    const { ports } = await stranger.call(sandboxPorts.ListExposedPorts, { params: { sessionId: theirs } });
    const token = new URL(link.url).searchParams.get('_preview_token') ?? '';
    const elsewhere = await visit(`${ports?.[0]?.url}?_preview_token=${token}`);
    expect(elsewhere.status).toBe(502);
    expect((await visit(link.url)).status).toBe(502);
  } finally {
    for (const [who, sandboxId] of [
      [client, mine],
      [stranger, theirs],
    ] as const)
      await who.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId }, body: {} });
    await tenants.stop();
  }
});

/** Sends bytes as they are and reads until the other end closes or says nothing for a while. */
function exchange(port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes, 'latin1'));
    let text = '';
    socket.setTimeout(700, () => socket.destroy());
    socket.on('data', (data) => {
      text += data;
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text));
  });
}

function residentMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}
