import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { createServer } from 'node:net';
import { Config } from '../../../config/config.ts';
import { silentLog } from '../../../log/log.ts';
import { createOutbound } from '../../../outbound/outbound.ts';
import { openWayOut, proxyPortFor, type WayOut } from './way-out.ts';

const skip = process.platform !== 'linux' || process.getuid?.() !== 0;

describe.skipIf(skip)('the network of a program (as root on Linux)', () => {
  let holder: Bun.Subprocess<'pipe', 'pipe', 'inherit'>;
  let wayOut: WayOut | undefined;
  beforeEach(async () => {
    const words = ['unshare', '--net', 'sh', '-c', 'ip link set lo up; echo; exec sleep 60'];
    holder = Bun.spawn(words, { stdin: 'pipe', stdout: 'pipe' });
    await holder.stdout.getReader().read();
  });
  afterEach(async () => {
    wayOut?.close();
    holder.kill('SIGKILL');
    await holder.exited;
  });
  const inside = async (...words: string[]) => {
    const child = Bun.spawn(['nsenter', `--net=/proc/${holder.pid}/ns/net`, ...words], { stderr: 'pipe' });
    const [out, err] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    return { out, err, code: await child.exited };
  };
  const serving = async (work: (port: number) => Promise<void>) => {
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: (request) => new Response(request.url),
    });
    try {
      await work(server.port ?? 0);
    } finally {
      await server.stop(true);
    }
  };
  const open = (allow: string[], endpoint?: string) => {
    const config = new Config({ flags: { 'outbound.allow': allow } });
    const outbound = createOutbound(config, silentLog);
    wayOut = openWayOut(holder.pid, endpoint, (authority) =>
      outbound.connect({ authority, trust: 'tenant', field: 'endpoint' }),
    );
  };

  test('has no way but the proxy, which leads where it is allowed', () =>
    serving(async (port) => {
      open([`127.0.0.1:${port}`]);
      const url = `http://127.0.0.1:${port}/x`;
      expect((await inside('curl', '-sS', '--max-time', '5', url)).code).not.toBe(0);
      const proxied = await inside('curl', '-sS', '--proxy', 'http://127.0.0.1:3128', url);
      expect(proxied.out).toBe(url);
      const tunnelled = await inside('curl', '-sS', '--proxytunnel', '--proxy', 'http://127.0.0.1:3128', url);
      expect(tunnelled.out).toBe(url);
      const other = await inside('curl', '-sS', '--proxy', 'http://127.0.0.1:3128', 'http://10.0.0.1/');
      expect(other.out + other.err).not.toContain('established');
    }));

  test('has the address of a store on the loopback of the host, and no other of it', () =>
    serving(async (port) => {
      open([`127.0.0.1:${port}`], `http://127.0.0.1:${port}`);
      expect((await inside('curl', '-sS', `http://127.0.0.1:${port}/y`)).out).toBe(
        `http://127.0.0.1:${port}/y`,
      );
      expect((await inside('curl', '-sS', `http://127.0.0.2:${port}/`)).code).not.toBe(0);
    }));

  test('opens nothing in the network of the host', async () => {
    const [port = 0, blocker] = await new Promise<[number, ReturnType<typeof createServer>]>((done) => {
      const server = createServer();
      server.listen(0, '127.0.0.1', () => done([(server.address() as { port: number }).port, server]));
    });
    blocker.close();
    open([], `http://127.0.0.1:${port}`);
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
  });
});

test('the proxy makes room for a store at its port', () => {
  expect(proxyPortFor('http://localhost:3128')).toBe(3129);
  expect(proxyPortFor('http://store.example:3128')).toBe(3128);
  expect(proxyPortFor(undefined)).toBe(3128);
});
