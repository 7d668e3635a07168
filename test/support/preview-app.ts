import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { gzipSync } from 'node:zlib';

/**
 * A web application for tests of previews, as a program: `bun preview-app.ts PORT [ADDRESS]`. It tells what reached it,
 * and answers in every way that a proxy may get wrong.
 */

const [port, address = '127.0.0.1'] = process.argv.slice(2);
const reports: string[] = [];
let left = 0;

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://app');
  response.on('close', () => {
    if (!response.writableFinished) left++;
  });
  const handler = HANDLERS[url.pathname];
  if (handler) void Promise.resolve(handler(request, response, url)).catch(() => response.destroy());
  else answer(response, 404, `nothing at ${url.pathname}`);
});

type Handler = (request: IncomingMessage, response: ServerResponse, url: URL) => unknown;

const HANDLERS: Readonly<Record<string, Handler>> = {
  '/': (_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end('<!doctype html><title>app</title><p>hello');
  },
  '/echo': async (request, response) => {
    const { method, url, rawHeaders, headers } = request;
    const body = await textOf(request);
    answer(response, 200, JSON.stringify({ method, url, rawHeaders, headers, body }));
  },
  '/upload': async (request, response) => {
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const chunk of request) {
      hash.update(chunk);
      bytes += chunk.length;
    }
    answer(response, 200, JSON.stringify({ bytes, sha256: hash.digest('hex') }));
  },
  '/flow': (_, response, url) => {
    const total = Number(url.searchParams.get('mb')) * 16;
    const block = Buffer.alloc(64 * 1024, 'x');
    let sent = 0;
    const more = () => {
      while (sent < total) {
        sent++;
        if (!response.write(block)) return void response.once('drain', more);
      }
      response.end();
    };
    more();
  },
  '/events': (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    let count = 0;
    const timer = setInterval(() => response.write(`data: ${count++}\n\n`), 50);
    response.on('close', () => clearInterval(timer));
  },
  '/slow': () => undefined,
  '/left': (_, response) => answer(response, 200, String(left)),
  '/gzip': (_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'text/plain' });
    response.end(gzipSync('packed'.repeat(1000)));
  },
  '/unchanged': (_, response) => {
    response.writeHead(304, { etag: '"one"' });
    response.end();
  },
  '/range': (request, response) => {
    response.writeHead(206, { 'content-range': 'bytes 0-1/10', 'x-range': request.headers.range ?? '' });
    response.end('01');
  },
  '/redirect': (_, response) => {
    response.writeHead(302, { location: 'https://elsewhere.example/path?x=1' });
    response.end();
  },
  '/cookies': (_, response) => {
    response.writeHead(200, {
      'set-cookie': [
        'app=1; Path=/; HttpOnly',
        'wide=1; Domain=preview.localhost; Path=/',
        'es_svc_session=forged; Path=/',
        '__Host-es_svc_session=forged; Path=/; Secure',
        'svc_preview=forged; Path=/',
      ],
      'clear-site-data': '"cookies"',
      'alt-svc': 'h3=":1"',
      connection: 'keep-alive, x-hop',
      'x-hop': '1',
      'x-kept': '1',
    });
    response.end('ok');
  },
  '/hang-up': (request, response) => {
    answer(response, 200, 'bye');
    setTimeout(() => request.socket.end(), 30);
  },
  '/cut': (request, response) => {
    response.writeHead(200, { 'content-length': '1000' });
    response.write('half');
    setTimeout(() => request.socket.destroy(), 50);
  },
  '/nonsense': (request) => request.socket.end('this is not HTTP\r\n\r\n'),
  '/page': (_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end(PAGE);
  },
  '/report': async (request, response) => {
    reports.push(await textOf(request));
    answer(response, 200, 'ok');
  },
  '/reports': (_, response) => answer(response, 200, JSON.stringify(reports)),
};

/** Opens a WebSocket to its own host, fetches from it, and reports what came. */
const PAGE = `<!doctype html><title>page</title><script>
(async () => {
  const socket = new WebSocket('ws://' + location.host + '/socket', ['chat']);
  const said = await new Promise((resolve) => {
    socket.onopen = () => socket.send('from the page');
    socket.onmessage = (event) => resolve(event.data);
    socket.onclose = (event) => resolve('closed ' + event.code);
  });
  const fetched = await (await fetch('/echo?fetched')).json();
  const report = { said, protocol: socket.protocol, search: location.search, cookie: document.cookie,
    url: fetched.url, sentCookie: fetched.headers.cookie ?? '', framed: window.top !== window };
  await fetch('/report', { method: 'POST', body: JSON.stringify(report) });
})();
</script>`;

/** WebSockets by the runtime's own server, to which an upgrade is passed on as bytes. */
const sockets = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch(request, bun) {
    const wanted = request.headers.get('sec-websocket-protocol')?.split(',')[0]?.trim();
    const headers: Record<string, string> = wanted ? { 'sec-websocket-protocol': wanted } : {};
    const data = { path: new URL(request.url).pathname };
    return bun.upgrade(request, { data, headers }) ? undefined : new Response('no', { status: 403 });
  },
  websocket: {
    data: {} as { path: string },
    maxPayloadLength: 64 * 1024 * 1024,
    backpressureLimit: 64 * 1024 * 1024,
    open(socket) {
      if (socket.data.path === '/flood')
        for (let i = 0; i < 64; i++) socket.send(new Uint8Array(256 * 1024).fill(i));
    },
    message(socket, message) {
      if (message === 'close with 4007') socket.close(4007, 'as asked');
      else socket.send(message);
    },
  },
});

server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
  if (request.url?.startsWith('/refused')) {
    socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno');
    return;
  }
  passOn(request, socket, head);
});

function passOn(request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const lines = Array.from({ length: request.rawHeaders.length / 2 }, (_, i) =>
    request.rawHeaders.slice(i * 2, i * 2 + 2).join(': '),
  );
  const inner = connect(sockets.port ?? 0, '127.0.0.1', () => {
    inner.write(`GET ${request.url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    inner.write(head);
    inner.pipe(socket).pipe(inner);
  });
  for (const end of [inner, socket]) end.on('error', () => undefined);
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString();
}

server.listen(Number(port), address, () => process.stdout.write('ready\n'));
