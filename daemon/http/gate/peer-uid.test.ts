import { describe, expect, test } from 'bun:test';
import { peerUid } from './peer-uid.ts';

const onLinux = process.platform === 'linux';

/** Connects to a listener on `hostname` and answers what the kernel says of the other end. */
async function uidOfPeer(hostname: string): Promise<{ uid: number | undefined; other: number | undefined }> {
  const found = Promise.withResolvers<{ uid: number | undefined; other: number | undefined }>();
  const server = Bun.listen({
    hostname,
    port: 0,
    socket: {
      data() {},
      open(socket) {
        const { remoteAddress, remotePort } = socket;
        found.resolve({
          uid: peerUid(remoteAddress, remotePort, server.port),
          other: peerUid(remoteAddress, remotePort, server.port + 1),
        });
      },
    },
  });
  const client = await Bun.connect({ hostname, port: server.port, socket: { data() {} } });
  try {
    return await found.promise;
  } finally {
    client.end();
    server.stop(true);
  }
}

describe.if(onLinux)('the user of a peer', () => {
  test.each(['127.0.0.1', '127.0.0.9', '::1'])('is found for a connection over %s', async (address) => {
    const { uid, other } = await uidOfPeer(address);
    expect(uid).toBe(process.getuid?.() ?? -1);
    expect(other).toBeUndefined();
  });

  test('is that of the process that connects', async () => {
    const seen = Promise.withResolvers<number | undefined>();
    const server = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        data() {},
        open({ localPort, remoteAddress, remotePort }) {
          seen.resolve(peerUid(remoteAddress, remotePort, localPort));
        },
      },
    });
    const canSwitch = process.getuid?.() === 0;
    const connect = `exec 3<>/dev/tcp/127.0.0.1/${server.port}; read -t 2 -u 3 line`;
    const as = canSwitch ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : [];
    const child = Bun.spawn([...as, 'bash', '-c', connect], { stdout: 'ignore', stderr: 'ignore' });
    expect(await seen.promise).toBe(canSwitch ? 65_534 : (process.getuid?.() ?? -1));
    server.stop(true);
    await child.exited;
  });

  test.each(['', 'unknown', '10.0.0.1', '::ffff:10.0.0.1'])('is unknown for %p', (address) => {
    expect(peerUid(address, 1, 1)).toBeUndefined();
  });
});
