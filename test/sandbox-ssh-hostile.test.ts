import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { type ClientChannel, Client as Ssh2Client } from 'ssh2';
import { sandboxLifecycle } from '../src/api/sandbox/lifecycle.ts';
import { sandboxSsh } from '../src/api/sandbox/ssh.ts';
import type { Client } from '../src/client/client.ts';
import { startDaemon, type TestDaemon } from './support/daemon.ts';
import { driverCases } from './support/drivers.ts';
import { clientOf, newSandbox, until } from './support/scene.ts';
import { OpenSsh } from './support/ssh/openssh.ts';

/** Connections of a flood, and connections that send garbage. */
const FLOOD = Number(process.env.SVC_TEST_SSH_FLOOD ?? 2_000);
const GARBAGE = Number(process.env.SVC_TEST_SSH_GARBAGE ?? 300);

/** What ssh2's client sends below its face, to say what a decent client would not. */
interface RawProtocol {
  session(channel: number, window: number, packetSize: number): void;
  exec(channel: number, command: string, wantReply: boolean): void;
  channelData(channel: number, bytes: Buffer): void;
  channelEOF(channel: number): void;
  channelClose(channel: number): void;
  channelWindowAdjust(channel: number, more: number): void;
  ping(): void;
}
type RawClient = Ssh2Client & { _protocol: RawProtocol; _sock: Socket };
type RawChannel = ClientChannel & { outgoing: { id: number } };

/** Any one driver: what is tested is the server before it. */
describe.skipIf(driverCases.length === 0)('the SSH server', () => {
  let daemon: TestDaemon;
  let client: Client;
  let ssh: OpenSsh;
  let id: string;
  let token: string;
  let port: number;

  beforeAll(async () => {
    daemon = await startDaemon({ env: { ...driverCases[0]?.env, SVC_SSH_PORT: '0', SVC_LOG_LEVEL: 'info' } });
    client = clientOf(daemon);
    id = await newSandbox(client, { name: 'box', sshEnabled: true });
    const info = await client.call(sandboxSsh.GetSandboxSSHInfo, { params: { sandboxId: id } });
    port = info.port ?? 0;
    ssh = new OpenSsh({ host: '127.0.0.1', port, hostKey: info.hostKey ?? '' });
    token =
      (await client.call(sandboxSsh.CreateSshToken, { params: { sandboxId: id }, body: {} })).token ?? '';
  });
  afterAll(async () => {
    await client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId: id }, body: {} });
    ssh.close();
    await daemon.stop();
  });

  const residentMb = () =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${daemon.pid}/status`, 'utf8'))?.[1]) / 1024;
  const descriptors = () => readdirSync(`/proc/${daemon.pid}/fd`).length;
  const open = (from: string) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from });
    socket.on('error', () => socket.destroy());
    // Unread bytes would keep a socket from noticing its end.
    socket.resume();
    return socket;
  };
  const closed = (socket: Socket) =>
    new Promise<void>((resolve) => void socket.once('close', () => resolve()));
  const stillServes = async () =>
    expect(await ssh.ssh(token, ['echo fine'])).toEqual({ code: 0, stdout: 'fine\n', stderr: '' });
  const logIn = () =>
    new Promise<RawClient>((resolve, reject) => {
      const one = new Ssh2Client();
      one.on('ready', () => resolve(one as RawClient)).on('error', reject);
      one.connect({ host: '127.0.0.1', port, username: token });
    });
  const execOn = (one: RawClient, command: string) =>
    new Promise<RawChannel>((resolve, reject) =>
      one.exec(command, (error, channel) => (error ? reject(error) : resolve(channel as RawChannel))),
    );

  test(`holds ${FLOOD} half-open connections of many sources to a bound, and serves the others`, async () => {
    const before = { fds: descriptors(), mb: residentMb() };
    const sockets = Array.from({ length: FLOOD }, (_, i) => open(`127.0.1.${(i % 250) + 1}`));
    await until(() => sockets.filter((socket) => socket.closed).length >= FLOOD - 128, 20_000);
    expect(descriptors() - before.fds).toBeLessThan(140);
    expect(residentMb() - before.mb).toBeLessThan(150);
    for (const socket of sockets) socket.destroy();
    await until(() => descriptors() <= before.fds + 10);
    await stillServes();
  }, 60_000);

  test('takes no more than a few waiting connections of one source, and others come in meanwhile', async () => {
    const sockets = Array.from({ length: 100 }, () => open('127.0.2.1'));
    await until(() => sockets.filter((socket) => socket.closed).length >= 100 - 32);
    await stillServes();
    for (const socket of sockets) socket.destroy();
  });

  test(`survives ${GARBAGE} peers that send garbage in place of packets`, async () => {
    const before = descriptors();
    const heads = [
      '',
      'SSH-2.0-x\r\n',
      'SSH-1.5-x\r\n',
      'GET / HTTP/1.1\r\n\r\n',
      `${'x'.repeat(9_000)}\r\n`,
    ];
    for (let i = 0; i < GARBAGE; i += 20) {
      const some = Array.from({ length: 20 }, (_, n) => {
        const socket = open(`127.0.3.${((i + n) % 250) + 1}`);
        const body = crypto.getRandomValues(new Uint8Array(1 + Math.floor(Math.random() * 4_000)));
        socket.write(heads[n % heads.length] ?? '');
        // A length that is plausible, so that what follows is looked at as a packet.
        if (n % 2 === 0) socket.write(new Uint8Array([0, 0, 0, 28, 4, 1 + Math.floor(Math.random() * 100)]));
        socket.end(body);
        return closed(socket);
      });
      await Promise.race([Promise.all(some), Bun.sleep(3_000)]);
    }
    await until(() => descriptors() <= before + 30, 30_000);
    await stillServes();
  }, 90_000);

  test('survives sessions that are opened and never used, closed twice, and left behind', async () => {
    for (let round = 0; round < 3; round++) {
      const one = await logIn();
      one.on('error', () => undefined);
      for (let i = 100; i < 110; i++) one._protocol.session(i, 2 ** 20, 32_768);
      await Bun.sleep(50);
      one._protocol.channelClose(0);
      one._protocol.channelEOF(1);
      one._protocol.exec(1, 'true', true);
      one._protocol.exec(2, 'sleep 1', true);
      one._protocol.exec(2, 'sleep 1', true);
      one._protocol.channelClose(77);
      await Bun.sleep(50);
      one._sock.destroy();
    }
    await stillServes();
  });

  test('opens no more channels on one connection than it may', async () => {
    const one = await logIn();
    const attempts = Array.from({ length: 140 }, () =>
      execOn(one, 'sleep 100').then(
        () => true,
        () => false,
      ),
    );
    await expect(Promise.all(attempts)).resolves.toContain(false);
    one.end();
    await stillServes();
  }, 60_000);

  test('cuts off a peer that sends beyond its window', async () => {
    const one = await logIn();
    one.on('error', () => undefined);
    const channel = await execOn(one, 'sleep 100');
    const before = residentMb();
    const bytes = Buffer.alloc(32_000);
    const gone = closed(one._sock);
    const flood = setInterval(() => {
      if (one._sock.writableLength < 1_000_000)
        for (let i = 0; i < 100; i++) one._protocol.channelData(channel.outgoing.id, bytes);
    }, 5);
    await gone;
    clearInterval(flood);
    expect(residentMb() - before).toBeLessThan(100);
  }, 30_000);

  test('holds output back from a peer that announces a huge window and reads nothing', async () => {
    const one = await logIn();
    one.on('error', () => undefined);
    const before = residentMb();
    const channel = await execOn(one, 'cat /dev/zero');
    one._protocol.channelWindowAdjust(channel.outgoing.id, 2 ** 30);
    one._protocol.channelWindowAdjust(channel.outgoing.id, 2 ** 30);
    one._sock.pause();
    await Bun.sleep(2_000);
    expect(residentMb() - before).toBeLessThan(100);
    for (let round = 0; round < 50; round++) {
      for (let i = 0; i < 1_000; i++) one._protocol.ping();
      await Bun.sleep(5);
    }
    expect(residentMb() - before).toBeLessThan(250);
    one._sock.destroy();
    await stillServes();
  }, 30_000);

  test('lets nobody in who asks for services before logging in', async () => {
    const socket = open('127.0.4.1');
    socket.write('SSH-2.0-x\r\n');
    // SSH_MSG_CHANNEL_OPEN in the clear, before any key exchange.
    socket.write(new Uint8Array([0, 0, 0, 12, 6, 90, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
    await closed(socket);
    await stillServes();
  });
});
