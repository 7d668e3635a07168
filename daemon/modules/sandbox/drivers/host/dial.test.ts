import { describe, expect, test } from 'bun:test';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { dialNetworkOf } from './dial.ts';
import { markOf, type ProcessMark } from './process.ts';

const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
const self = markOf(process.pid) as ProcessMark;

/** A server of this process, whose network it shares with the dialled one, at a port that nobody has at 127.0.0.1. */
async function listenAt(
  address: string,
  serve: (socket: Socket) => void,
): Promise<{ server: Server; port: number }> {
  const probe = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
  const { port } = probe;
  probe.stop(true);
  const server = createServer({ allowHalfOpen: true }, serve).listen(port, address);
  await once(server, 'listening');
  return { server, port };
}

describe.skipIf(!isRoot)(`dialling into the network of a process${isRoot ? '' : ': it takes root'}`, () => {
  test.each(['127.0.0.1', '127.0.0.9', '0.0.0.0', '::1', '::'])(
    'finds what listens on %s',
    async (address) => {
      const { server, port } = await listenAt(address, (socket) => socket.pipe(socket));
      const connection = await dialNetworkOf(self, port);
      connection.end('hello');
      expect(Buffer.concat(await connection.toArray()).toString()).toBe('hello');
      server.close();
    },
  );

  test('says that nothing listens', async () => {
    expect(await dialNetworkOf(self, 1).catch((error) => error)).toMatchObject({ code: 'nothing_listens' });
  });

  test('takes no other process that has the number by now', async () => {
    const { server, port } = await listenAt('127.0.0.1', (socket) => socket.end());
    const other = { ...self, startTime: '1' };
    const gone = { ...self, pid: 4_194_304 };
    for (const mark of [other, gone])
      expect(await dialNetworkOf(mark, port).catch((error) => error)).toMatchObject({
        code: 'failed_precondition',
      });
    server.close();
  });

  test('reads what came before the other end was gone, also late', async () => {
    const { server, port } = await listenAt('127.0.0.1', (socket) => {
      socket.end('x'.repeat(100_000));
      socket.resume();
    });
    const connection = await dialNetworkOf(self, port);
    await Bun.sleep(100);
    connection.end();
    expect(Buffer.concat(await connection.toArray()).length).toBe(100_000);
    server.close();
  });

  test('a connection that is reset is an error, and one that is destroyed is a reset for the other end', async () => {
    const sockets: Socket[] = [];
    const { server, port } = await listenAt('127.0.0.1', (socket) => sockets.push(socket));
    const [first, second] = [await dialNetworkOf(self, port), await dialNetworkOf(self, port)];
    first.write('x');
    second.write('x');
    await Bun.sleep(50);
    const failed = once(first, 'error');
    first.resume();
    sockets[0]?.resetAndDestroy();
    expect(await failed).toMatchObject([{ code: 'ECONNRESET' }]);
    const ended = new Promise((resolve) => sockets[1]?.once('error', resolve).resume());
    second.destroy(new Error('enough'));
    second.on('error', () => undefined);
    expect(await ended).toMatchObject({ code: 'ECONNRESET' });
    server.close();
  });

  test('a write to what nobody takes any more fails', async () => {
    const { server, port } = await listenAt('127.0.0.1', (socket) => socket.resetAndDestroy());
    const connection = await dialNetworkOf(self, port);
    const failed = once(connection, 'error');
    connection.resume();
    for (let i = 0; i < 5 && !connection.destroyed; i++) {
      connection.write('x');
      await Bun.sleep(10);
    }
    await failed;
    server.close();
  });

  test('says when nothing passed for a while, and not while something does', async () => {
    const { server, port } = await listenAt('127.0.0.1', (socket) => socket.resume());
    const connection = await dialNetworkOf(self, port);
    let idle = 0;
    connection.on('timeout', () => idle++);
    (connection as unknown as Socket).setTimeout(100);
    for (let i = 0; i < 10; i++) {
      connection.write('x');
      await Bun.sleep(30);
    }
    expect(idle).toBe(0);
    await once(connection, 'timeout');
    connection.destroy();
    server.close();
  });
});
