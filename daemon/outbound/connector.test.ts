import { expect, test } from 'bun:test';
import { AppError } from '../../src/errors/app-error.ts';
import { silentLog } from '../log/log.ts';
import type { Connector } from './connector.ts';
import { createOutbound, type OutboundRequest } from './outbound.ts';

const config = { get: () => [] } as never;
const lookup = async () => ['127.0.0.1'];
const call = (port: number | undefined, more: Partial<OutboundRequest> = {}, connect?: Connector) =>
  createOutbound(config, silentLog, { lookup, connect }).fetch({
    url: `http://up.test:${port}/`,
    trust: 'operator',
    field: 'f',
    ...more,
  });
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'answered',
    (error) => (error instanceof AppError ? error.code : error),
  );

/** A TCP listener that gives each piece it receives to `onData`. */
const listen = (onData: (socket: Bun.Socket, data: Buffer) => void) =>
  Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: onData } });

test('the name, not the address, goes into the TLS handshake', async () => {
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  const listener = listen((socket, data) => {
    resolve(Buffer.from(data));
    socket.end();
  });
  expect(await codeOf(call(0, { url: `https://api.up.test:${listener.port}/` }))).toBe('upstream_failed');
  expect((await promise).includes('api.up.test')).toBe(true);
  listener.stop(true);
});

test('bytes come as they were sent: nothing is decompressed, nor asked for compressed', async () => {
  const packed = Bun.gzipSync(Buffer.from('plain'));
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ headers }) =>
      new Response(packed, {
        headers: { 'content-encoding': 'gzip', asked: headers.get('accept-encoding') ?? 'no' },
      }),
  });
  const response = await call(server.port);
  expect(response.headers.get('asked')).toBe('no');
  expect(response.headers.get('content-encoding')).toBe('gzip');
  expect(await response.bytes()).toEqual(new Uint8Array(packed));
  await server.stop(true);
});

test('bodies stream both ways, piece by piece', async () => {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) => new Response(request.body),
  });
  const pieces = new TransformStream<Uint8Array, Uint8Array>();
  const writer = pieces.writable.getWriter();
  const encode = (text: string) => new TextEncoder().encode(text);
  void writer.write(encode('one'));
  const response = await call(server.port, { method: 'POST', body: pieces.readable });
  const reader = response.body?.getReader();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('one');
  void writer.write(encode('two'));
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('two');
  await writer.close();
  expect((await reader?.read())?.done).toBe(true);
  await server.stop(true);
});

test('a caller that reads nothing holds the sender back', async () => {
  let sent = 0;
  const piece = new Uint8Array(1024 * 1024);
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () =>
      new Response(
        new ReadableStream({
          async pull(controller) {
            sent += piece.byteLength;
            controller.enqueue(piece);
            await Bun.sleep(0);
          },
        }),
      ),
  });
  const controller = new AbortController();
  const response = await call(server.port, { signal: controller.signal });
  await response.body?.getReader().read();
  let before = -1;
  while (before !== sent) {
    before = sent;
    await Bun.sleep(150);
  }
  expect(sent).toBeLessThan(128 * 1024 * 1024);
  controller.abort();
  await server.stop(true);
});

test('when the caller leaves, the connection closes, before the answer and inside it', async () => {
  for (const answer of ['', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n']) {
    const { promise: closed, resolve: onClose } = Promise.withResolvers<void>();
    const { promise: asked, resolve: onAsked } = Promise.withResolvers<void>();
    const listener = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        data(socket) {
          socket.write(answer);
          onAsked();
        },
        close: () => onClose(),
      },
    });
    const controller = new AbortController();
    const pending = call(listener.port, { signal: controller.signal }).then((response) => response.text());
    const outcome = codeOf(pending);
    await asked;
    if (answer !== '') await Bun.sleep(20);
    controller.abort();
    await closed;
    expect(await outcome).not.toBe('answered');
    listener.stop(true);
  }
});

test('refused and reset connections, and silence, are told apart', async () => {
  const reset = listen((socket) => socket.terminate());
  const silence = listen(() => {});
  const closed = listen(() => {});
  const { port } = closed;
  closed.stop(true);
  expect(await codeOf(call(port))).toBe('upstream_failed');
  expect(await codeOf(call(reset.port))).toBe('upstream_failed');
  expect(await codeOf(call(silence.port, { signal: AbortSignal.timeout(30) }))).toBe('upstream_timeout');
  const idle: Connector = async () => {
    throw Object.assign(new Error('late'), { name: 'TimeoutError' });
  };
  expect(await codeOf(call(1, {}, idle))).toBe('upstream_timeout');
  reset.stop(true);
  silence.stop(true);
});

test('a body that is a stream is sent once: no second address is tried with it', async () => {
  const tried: string[] = [];
  const refusing: Connector = async (_, address) => {
    tried.push(address);
    throw Object.assign(new Error('no'), { code: 'ECONNREFUSED' });
  };
  const two = async () => ['127.0.0.1', '127.0.0.2'];
  const out = createOutbound(config, silentLog, { lookup: two, connect: refusing });
  const body = new ReadableStream<Uint8Array>();
  const request = { url: 'http://up.test/', trust: 'operator', field: 'f', method: 'POST' } as const;
  expect(await codeOf(out.fetch({ ...request, body }))).toBe('upstream_failed');
  expect(tried).toEqual(['127.0.0.1']);
  expect(await codeOf(out.fetch({ ...request, body: 'text' }))).toBe('upstream_failed');
  expect(tried).toEqual(['127.0.0.1', '127.0.0.1', '127.0.0.2']);
});

test('headers that frame a message cannot be set by a caller', async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const listener = listen((socket, data) => {
    resolve(data.toString());
    socket.end('HTTP/1.1 204 No Content\r\n\r\n');
  });
  const headers = { 'transfer-encoding': 'chunked', 'content-length': '99', 'X-Own': 'kept', upgrade: 'h2c' };
  await call(listener.port, { method: 'POST', body: 'abc', headers });
  const sent = (await promise).toLowerCase();
  expect(sent).toContain('content-length: 3\r\n');
  expect(sent).toContain('x-own: kept\r\n');
  for (const absent of ['transfer-encoding', 'content-length: 99', 'upgrade'])
    expect(sent).not.toContain(absent);
  listener.stop(true);
});
