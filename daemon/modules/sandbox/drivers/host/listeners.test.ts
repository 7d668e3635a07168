import { expect, test } from 'bun:test';
import { createServer } from 'node:net';
import { listenersOf, parseListeners } from './listeners.ts';

const HEAD =
  '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode';
const line = (local: string, state: string, inode = '4711') =>
  `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000  1000        0 ${inode} 1 0000000000000000 100 0 0 10 0`;

test('what listens is read with its address, port and inode; what is connected is not', () => {
  const text = [HEAD, line('0100007F:1F90', '0A'), line('0100007F:1F91', '01'), ''].join('\n');
  expect(parseListeners('tcp', text)).toEqual([
    { protocol: 'tcp', port: 8080, octets: new Uint8Array([127, 0, 0, 1]), inode: '4711' },
  ]);
});

test('addresses of IPv6 are words in the order of this machine', () => {
  const [one] = parseListeners('tcp6', line('0000000000000000FFFF00000100007F:0050', '0A'));
  expect([...(one?.octets ?? [])]).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 127, 0, 0, 1]);
});

test.each(['', HEAD, 'nonsense', line('zz:1', '0A'), line('0100007F:99999', '0A')])('%j has none', (text) => {
  expect(parseListeners('tcp', text)).toEqual([]);
});

test.if(process.platform === 'linux')('a listener of this process is found', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const found = (await listenersOf(process.pid)).find((one) => one.port === port);
  expect(found).toMatchObject({ protocol: 'tcp', octets: new Uint8Array([127, 0, 0, 1]) });
  server.close();
});
