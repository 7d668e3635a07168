import { a, serveNames } from '../../network/testing/name-server.ts';
import { LAB } from './network-lab.ts';

/** What answers on the lab's internet: `hello` on TCP port 80, a ticker on 81, as much as is taken on 82, and names. */
function greet(socket: Bun.Socket): void {
  socket.write('hello\n');
  socket.end();
}

const quiet = { data: () => {}, error: () => {} };
Bun.listen({ hostname: '0.0.0.0', port: 80, socket: { open: greet, ...quiet } });
Bun.listen({
  hostname: '0.0.0.0',
  port: 81,
  socket: {
    ...quiet,
    open(socket) {
      const ticker = setInterval(() => socket.write('tick\n') < 0 && clearInterval(ticker), 20);
    },
  },
});
const chunk = new Uint8Array(256 * 1024);
const pour = (socket: Bun.Socket) => {
  while (socket.write(chunk) === chunk.length);
};
Bun.listen({ hostname: '0.0.0.0', port: 82, socket: { ...quiet, open: pour, drain: pour } });
await serveNames(LAB.resolver, 53, {
  'internet.test': a('internet.test', LAB.internet),
  'other.test': a('other.test', LAB.otherInternet),
  'alias.test': [
    { name: 'alias.test', type: 'CNAME', ttl: 60, data: 'a.cdn.test' },
    ...a('a.cdn.test', LAB.otherInternet),
  ],
  'rebind.test': a('rebind.test', LAB.lan, LAB.metadata, '127.0.0.1', LAB.uplink, LAB.internet),
  'stray.test': [...a('stray.test', LAB.internet), ...a('else.test', LAB.otherInternet)],
  'large.test': Array.from({ length: 60 }, (_, i) => ({
    name: 'large.test',
    type: 'TXT' as const,
    ttl: 60,
    data: `${i} ${'x'.repeat(100)}`,
  })),
});
console.log('ready');
