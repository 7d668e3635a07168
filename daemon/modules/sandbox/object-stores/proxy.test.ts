import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { createServer, connect as dialTcp, type Server, type Socket } from 'node:net';
import fc from 'fast-check';
import { fail } from '../../../../src/errors/app-error.ts';
import { Config } from '../../../config/config.ts';
import { silentLog } from '../../../log/log.ts';
import { INNER_V4, INNER_V6, spellingsOf } from '../../../outbound/corpus.ts';
import { createOutbound } from '../../../outbound/outbound.ts';
import { type Dial, parseProxyRequest, serveProxy } from './proxy.ts';

describe('a request to the proxy', () => {
  test.each([
    ['CONNECT store.example:443 HTTP/1.1\r\nHost: store.example:443', 'store.example:443', ''],
    ['CONNECT [2001:db8::1]:443 HTTP/1.1', '[2001:db8::1]:443', ''],
    [
      'GET http://store.example:9000/data?x=y HTTP/1.1\r\nHost: store.example:9000\r\nProxy-Authorization: Basic x\r\nConnection: keep-alive',
      'store.example:9000',
      'GET /data?x=y HTTP/1.1\r\nHost: store.example:9000\r\nConnection: close\r\n\r\n',
    ],
    ['GET http://store.example HTTP/1.1', 'store.example:80', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['GET http://s?a HTTP/1.1', 's:80', 'GET /?a HTTP/1.1\r\nConnection: close\r\n\r\n'],
  ])('%j leads on', (text, authority, head) => expect(parseProxyRequest(text)).toEqual({ authority, head }));

  test.each([
    '',
    'GET / HTTP/1.1',
    'GET https://store.example/ HTTP/1.1',
    'GET ftp://store.example/ HTTP/1.1',
    'GET http://user@store.example/ HTTP/1.1',
    'GET http://a@b:80\\@c/ HTTP/1.1',
    'GET http:///x HTTP/1.1',
    'GET http://a b/ HTTP/1.1',
    'GET http://a/ HTTP/2',
    'GET http://a/',
    'get http://a/ HTTP/1.1',
    'CONNECT store.example HTTP/1.1',
    'CONNECT store.example:443/x HTTP/1.1',
    'CONNECT user@store.example:443 HTTP/1.1',
    'CONNECT :443 HTTP/1.1',
    'CONNECT a:123456 HTTP/1.1',
    'GET http://a/ HTTP/1.1\r\nBad Header: x',
    'GET http://a/ HTTP/1.1\r\n folded',
    'GET http://a/ HTTP/1.1\r\nX: a\nTransfer-Encoding: chunked',
  ])('%j is none', (text) => expect(parseProxyRequest(text)).toBeUndefined());

  test('is read or refused, whatever it is, and leads nowhere that it does not say', () =>
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const text = Buffer.from(bytes).toString('latin1');
        for (const line of [text, `CONNECT ${text} HTTP/1.1`, `GET http://${text} HTTP/1.1`]) {
          const request = parseProxyRequest(line);
          if (request) expect(request.head.includes('\0')).toBe(false);
        }
      }),
    ));
});

describe('the proxy', () => {
  let server: Server;
  let port: number;
  let dial: Dial;
  let dialled: string[];
  beforeEach(async () => {
    dialled = [];
    server = createServer({ allowHalfOpen: true }, (socket) => serveProxy(socket, (to) => dial(to)));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    port = (server.address() as { port: number }).port;
  });
  afterEach(() => server.close());

  /** Everything that the proxy answers to some bytes. */
  const ask = (bytes: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket: Socket = dialTcp({ host: '127.0.0.1', port });
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('error', reject).on('close', () => resolve(text));
      socket.end(bytes);
    });
  /** A store that answers with what it was sent. */
  const echo = async (work: (port: number) => Promise<void>) => {
    const store = createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket));
    await new Promise<void>((done) => store.listen(0, '127.0.0.1', done));
    await work((store.address() as { port: number }).port);
    store.close();
  };
  const outbound = (allow: string[] = []) => {
    const config = new Config({ flags: { 'outbound.allow': allow } });
    return createOutbound(config, silentLog, { lookup: async () => ['127.0.0.1'] });
  };
  const guarded =
    (allow: string[] = []): Dial =>
    async (authority) => {
      const stream = await outbound(allow).connect({ authority, trust: 'tenant', field: 'endpoint' });
      dialled.push(authority);
      return stream;
    };

  test('carries a tunnel both ways, to the last byte, and the bytes that came with the head', () =>
    echo(async (at) => {
      dial = guarded([`127.0.0.1:${at}`]);
      const large = 'x'.repeat(300_000);
      const answer = await ask(`CONNECT 127.0.0.1:${at} HTTP/1.1\r\n\r\n${large}`);
      expect(answer).toBe(`HTTP/1.1 200 Connection established\r\n\r\n${large}`);
    }));

  test('passes on a plain request as one for a path', () =>
    echo(async (at) => {
      dial = guarded([`127.0.0.1:${at}`]);
      const answer = await ask(`PUT http://127.0.0.1:${at}/b HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody`);
      expect(answer).toBe('PUT /b HTTP/1.1\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody');
    }));

  test('refuses inner addresses however they are spelled, and names that lead there', async () => {
    dial = guarded();
    const hosts = [
      ...INNER_V4.flatMap((address) => spellingsOf(address).map(({ host }) => host)),
      ...INNER_V6.map((address) => `[${address}]`),
      'localhost',
      'rebinds.example',
    ];
    for (const host of hosts) {
      const encoded = /^[\x21-\x7e]+$/.test(host) ? host : encodeURI(host);
      expect(await ask(`CONNECT ${encoded}:443 HTTP/1.1\r\n\r\n`)).toMatch(/^HTTP\/1\.1 (403|400) /);
      expect(await ask(`GET http://${encoded}/ HTTP/1.1\r\n\r\n`)).toMatch(/^HTTP\/1\.1 (403|400) /);
    }
    expect(dialled).toEqual([]);
  });

  test('says why in the status line, in one line', async () => {
    dial = async () => {
      throw fail('upstream_failed', { message: 'down\r\nX: y' });
    };
    expect(await ask('CONNECT a.example:1 HTTP/1.1\r\n\r\n')).toStartWith('HTTP/1.1 502 down  X: y\r\n');
  });

  test('refuses what never ends and what is no request', async () => {
    dial = guarded();
    expect(await ask(`GET http://a/ HTTP/1.1\r\nX: ${'x'.repeat(64_000)}\r\n\r\n`)).toStartWith(
      'HTTP/1.1 400',
    );
    expect(await ask('\r\n\r\n')).toStartWith('HTTP/1.1 400');
    expect(await ask('CONNECT a')).not.toContain('200');
    expect(dialled).toEqual([]);
  });
});
