import { connect } from 'node:net';
import { freePort } from './daemon.ts';
import { ensurePrograms, findProgram } from './debian-packages.ts';

/** A real Redis server on the loopback, which keeps nothing on the disk. */
export interface TestRedis {
  readonly port: number;
  stop(): Promise<void>;
  /** Starts it again on its port, empty. */
  start(): Promise<void>;
}

/** Starts one; installs the program where it is missing. */
export async function startRedis(password: string): Promise<TestRedis> {
  await ensurePrograms({ 'redis-server': 'redis-server' });
  const port = freePort();
  let child: Bun.Subprocess | undefined;
  const start = async () => {
    child = Bun.spawn(
      [
        findProgram('redis-server') ?? '',
        ...['--port', String(port), '--bind', '127.0.0.1', '--requirepass', password],
        ...['--save', '', '--dir', '/tmp'],
      ],
      { stdout: 'ignore', stderr: 'ignore' },
    );
    await listening(port);
  };
  await start();
  return {
    port,
    start,
    async stop() {
      child?.kill();
      await child?.exited;
    },
  };
}

async function listening(port: number): Promise<void> {
  for (let attempt = 0; attempt < 400; attempt++) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('error', () => resolve(false));
      socket.once('connect', () => {
        socket.destroy();
        resolve(true);
      });
    });
    if (isOpen) return;
    await Bun.sleep(25);
  }
  throw new Error(`Redis does not listen on ${port}`);
}
