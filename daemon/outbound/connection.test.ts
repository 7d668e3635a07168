import { describe, expect, test } from 'bun:test';
import { createServer } from 'node:net';
import { Duplex, PassThrough } from 'node:stream';
import { AppError } from '../../src/errors/app-error.ts';
import { silentLog } from '../log/log.ts';
import { INNER_V4, INNER_V6, spellingsOf } from './corpus.ts';
import { dial } from './dialer.ts';
import { createOutbound, type OutboundConnection, type OutboundParts } from './outbound.ts';

const settings = (allow: readonly string[]) => ({ get: () => allow }) as never;

/** Where a connection went to, and the code of its error when it came to nothing. */
async function attempt(
  connection: Partial<OutboundConnection>,
  parts: OutboundParts = {},
  allow: readonly string[] = [],
) {
  const dialled: string[] = [];
  const spy = async (address: string, port: number): Promise<Duplex> => {
    dialled.push(`${address} ${port}`);
    return new PassThrough();
  };
  const outbound = createOutbound(settings(allow), silentLog, { dial: spy, ...parts });
  const whole = {
    authority: 'name.test:443',
    trust: 'tenant',
    field: 'body.endpoint',
    ...connection,
  } as const;
  const error = await outbound.connect(whole).then(
    () => undefined,
    (failure: unknown) => (failure instanceof AppError ? failure.code : failure),
  );
  return { dialled, error };
}

const answering =
  (...addresses: string[]) =>
  async () =>
    addresses;

describe('a connection of a tenant', () => {
  test('goes to the address that was judged, and the name is asked for once', async () => {
    let asked = 0;
    const lookup = async () => {
      asked++;
      return asked === 1 ? ['93.184.216.34'] : ['127.0.0.1'];
    };
    expect(await attempt({}, { lookup })).toEqual({ dialled: ['93.184.216.34 443'], error: undefined });
    expect(asked).toBe(1);
  });

  test('is refused to every inner address, however it is spelled', async () => {
    const hosts = [
      ...INNER_V4.flatMap((address) => spellingsOf(address).map(({ host }) => host)),
      ...INNER_V6.map((address) => `[${address}]`),
    ];
    for (const host of hosts)
      expect({ host, ...(await attempt({ authority: `${host}:443` })) }).toEqual({
        host,
        dialled: [],
        error: 'outbound_refused',
      });
  });

  test.each([
    '',
    'x',
    ':1',
    'a b:1',
    'a/b:1',
    'u@a:1',
    'a:0',
    'a:99999',
    'a:x',
    'http://a:1',
    'a..b:1',
    'a\\b:1',
    'a?b:1',
  ])('is refused when %j is no host with a port', async (authority) =>
    expect(await attempt({ authority })).toEqual({ dialled: [], error: 'outbound_refused' }),
  );

  test.each([
    ['a name that leads inside', answering('10.0.0.1')],
    ['a name that leads inside as well', answering('93.184.216.34', '::1')],
    ['a name that leads to the metadata service', answering('169.254.169.254')],
  ])('is refused to %s', async (_, lookup) =>
    expect(await attempt({}, { lookup })).toEqual({ dialled: [], error: 'outbound_refused' }),
  );

  test('is refused to ports of other protocols, and allowed where the owner says so', async () => {
    const lookup = answering('93.184.216.34');
    expect((await attempt({ authority: 'name.test:25' }, { lookup })).error).toBe('outbound_refused');
    const inside = await attempt({ authority: '127.0.0.1:9000' }, {}, ['127.0.0.1:9000']);
    expect(inside).toEqual({ dialled: ['127.0.0.1 9000'], error: undefined });
    expect((await attempt({ authority: '127.0.0.1:9001' }, {}, ['127.0.0.1:9000'])).error).toBe(
      'outbound_refused',
    );
  });

  test('tries the next address, and says which host could not be reached', async () => {
    const tried: string[] = [];
    const failing = async (address: string) => {
      tried.push(address);
      throw Object.assign(new Error('no'), { code: 'ECONNREFUSED' });
    };
    const lookup = answering('93.184.216.34', '93.184.216.35');
    expect((await attempt({}, { lookup, dial: failing })).error).toBe('upstream_failed');
    expect(tried).toEqual(['93.184.216.34', '93.184.216.35']);
    expect((await attempt({ signal: AbortSignal.abort() }, { lookup })).error).toBe('cancelled');
  });
});

describe('the dialer', () => {
  test('carries bytes both ways and lets each end finish by itself', async () => {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('data', () => {}).on('end', () => socket.end('after your end'));
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const stream = await dial('127.0.0.1', (server.address() as { port: number }).port);
    stream.end('x');
    expect(await new Response(Duplex.toWeb(stream).readable as never).text()).toBe('after your end');
    server.close();
  });

  test('says that nobody listens', async () => {
    const server = createServer();
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as { port: number };
    await new Promise((done) => server.close(done));
    expect(dial('127.0.0.1', port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('does not begin for a caller that has left', async () =>
    expect(dial('127.0.0.1', 9, AbortSignal.abort())).rejects.toThrow('left'));
});
