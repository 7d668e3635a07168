import { describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { AppError } from '../../../../../src/errors/app-error.ts';
import type { Connection, Execution } from '../driver.ts';
import { type Scene, settle, sh, withBox } from './scene.ts';

const MIB = 1024 * 1024;
/** Megabytes through one connection. */
const FLOW_MB = Number(process.env.CONFORMANCE_FLOW_MB ?? 16);

/** What happens to connections to the ports of a box. */
export function portRules(scene: Scene): void {
  describe('ports', () => {
    test.each(['127.0.0.1', '0.0.0.0'])(
      'something that listens on %s is reached, in a box without a network',
      async (address) => {
        const server = await serve(scene, scene.box, 'cat', address);
        const connection = await scene.driver.dial(scene.box, server.port);
        connection.end('hello');
        expect((await everything(connection)).toString()).toBe('hello');
        await server.stop();
      },
    );

    test('one end may be done while the other still sends', async () => {
      const server = await serve(scene, scene.box, 'cat >/dev/null; echo all read');
      const connection = await scene.driver.dial(scene.box, server.port);
      connection.end('x'.repeat(100_000));
      expect((await everything(connection)).toString()).toBe('all read\n');
      await server.stop();
    });

    test('a port that nothing listens on is an error that says so', async () => {
      const error = await scene.driver.dial(scene.box, 1).catch((error: unknown) => error);
      expect(error).toBeInstanceOf(AppError);
      expect(error).toMatchObject({ code: 'nothing_listens', data: { port: 1 } });
    });

    test(`${FLOW_MB} MB come back as they were sent, with bounded memory`, async () => {
      const server = await serve(scene, scene.box, 'cat');
      const connection = await scene.driver.dial(scene.box, server.port);
      const [sent, received] = [createHash('sha256'), createHash('sha256')];
      Bun.gc(true);
      const before = process.memoryUsage.rss();
      let peak = before;
      const reading = (async () => {
        for await (const bytes of connection) {
          received.update(bytes);
          peak = Math.max(peak, process.memoryUsage.rss());
        }
      })();
      const block = crypto.getRandomValues(new Uint8Array(64 * 1024));
      for (let i = 0; i < (FLOW_MB * MIB) / block.length; i++) {
        block[0] = i;
        sent.update(block);
        if (!connection.write(block.slice())) await once(connection, 'drain');
      }
      connection.end();
      await reading;
      expect(received.digest('hex')).toBe(sent.digest('hex'));
      expect(peak - before).toBeLessThan(64 * MIB);
      await server.stop();
    });

    test('a reader that waits holds the sender back', async () => {
      const script = 'head -c 67108864 /dev/zero && : >/workspace/sent';
      const server = await serve(scene, scene.box, script);
      const connection = await scene.driver.dial(scene.box, server.port);
      await Bun.sleep(500);
      expect(connection.readableLength).toBeLessThan(MIB);
      const execution = await scene.driver.exec(scene.box, sh('test ! -e /workspace/sent'));
      expect((await execution.exited).code).toBe(0);
      connection.destroy();
      await server.stop();
    });

    test('fifty connections that are open together each get their own bytes', async () => {
      const server = await serve(scene, scene.box, 'cat');
      const open: Connection[] = [];
      for (let i = 0; i < 50; i++) {
        const connection = await scene.driver.dial(scene.box, server.port);
        connection.write('first ');
        await once(connection, 'readable');
        open.push(connection);
      }
      const answers = await Promise.all(
        open.map(async (connection, i) => {
          connection.end(`then ${i}`);
          return (await everything(connection)).toString();
        }),
      );
      expect(answers).toEqual(open.map((_, i) => `first then ${i}`));
      await server.stop();
    });

    test('a connection ends when its box is stopped, and there is no new one', async () => {
      await withBox(scene, {}, async (id) => {
        const { port } = await serve(scene, id, 'cat');
        const connection = await scene.driver.dial(id, port);
        connection.write('hello');
        await once(connection, 'data');
        const closed = new Promise<string>((resolve) => {
          connection.once('error', () => resolve('error')).once('end', () => resolve('end'));
        });
        await scene.driver.stop(id);
        expect(['error', 'end']).toContain(await closed);
        connection.destroy();
        const error = await scene.driver.dial(id, port).catch((error: unknown) => error);
        expect(error).toMatchObject({ code: 'failed_precondition' });
      });
    });

    test('connections that are over leave no descriptor behind', async () => {
      const server = await serve(scene, scene.box, 'cat');
      const count = () => readdirSync('/proc/self/fd').length;
      const before = count();
      for (let i = 0; i < 40; i++) {
        const connection = await scene.driver.dial(scene.box, server.port);
        if (i % 2 === 0) connection.destroy();
        else await everything(connection.end('x'));
        await scene.driver.dial(scene.box, 1).catch(() => undefined);
      }
      expect(await settle(async () => count() <= before + 2, true)).toBe(true);
      await server.stop();
    });

    test('the daemon stays in its own network', async () => {
      expect(readlinkSync('/proc/thread-self/ns/net')).toBe(readlinkSync(`/proc/${process.pid}/ns/net`));
    });
  });
}

interface Server {
  readonly port: number;
  stop(): Promise<void>;
}

let nextPort = 20_000 + Math.floor(Math.random() * 10_000);

/** Runs `script` for each connection, its input and output the connection: with perl, else busybox, which takes no address. */
async function serve(scene: Scene, box: string, script: string, address = '127.0.0.1'): Promise<Server> {
  const port = nextPort++;
  const perl = `use IO::Socket::INET; $SIG{CHLD}="IGNORE";
    my $s = IO::Socket::INET->new(LocalAddr => "${address}", LocalPort => ${port}, Listen => 128, ReuseAddr => 1) or die;
    while (1) { my $c = $s->accept or next; next if fork;
      open STDIN, "<&", $c; open STDOUT, ">&", $c; close $c; close $s; exec "/bin/sh", "-c", ${JSON.stringify(script)}; }`;
  const line = `if command -v perl >/dev/null; then exec perl -e '${perl}'; else exec nc -ll -p ${port} -e /bin/sh -c '${script}'; fi`;
  const execution: Execution = await scene.driver.exec(box, sh(line));
  const isUp = () => scene.driver.dial(box, port).then(closeOf, () => false);
  expect(await settle(isUp, true, 10_000)).toBe(true);
  return {
    port,
    async stop() {
      await execution.kill('SIGKILL');
      await execution.exited;
    },
  };
}

function closeOf(connection: Connection): boolean {
  connection.destroy();
  return true;
}

async function everything(connection: Readable): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const bytes of connection) parts.push(bytes);
  return Buffer.concat(parts);
}
