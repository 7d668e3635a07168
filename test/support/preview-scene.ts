import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { WebSocket as Socket } from 'node-ws';
import type { Client } from '../../src/client/client.ts';
import { run, until } from './scene.ts';

/** A server that runs in the network of a sandbox. */
export interface BoxServer {
  readonly port: number;
  stop(): Promise<void>;
}

/**
 * Runs the test application in the network of a sandbox: with this machine's Bun, since images have no runtime in
 * common. To a preview it is no different from a program inside.
 */
export async function startApp(client: Client, sandboxId: string, port: number): Promise<BoxServer> {
  const pid = await processOf(client, sandboxId);
  const app = Bun.spawn(
    [
      'nsenter',
      `--net=/proc/${pid}/ns/net`,
      process.execPath,
      join(import.meta.dir, 'preview-app.ts'),
      String(port),
    ],
    { stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' },
  );
  const { done } = await app.stdout.getReader().read();
  if (done) throw new Error('the application does not start');
  return {
    port,
    async stop() {
      app.kill('SIGKILL');
      await app.exited;
    },
  };
}

/** The number that this machine knows a process of a sandbox by. */
async function processOf(client: Client, sandboxId: string): Promise<string> {
  const mark = `98${Math.floor(Math.random() * 1e9)}`;
  await run(client, sandboxId, `sleep ${mark}`, { background: true });
  return until(() =>
    readdirSync('/proc').find((name) => /^\d+$/.test(name) && commandLine(name) === `sleep\0${mark}\0`),
  );
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

/** Asks for a preview at the daemon's own address, with the preview's host: no resolver is needed. */
export function visit(previewUrl: string, path = '/', init: RequestInit = {}): Promise<Response> {
  const { host, port, search } = new URL(previewUrl);
  const headers = new Headers(init.headers);
  headers.set('host', host);
  const query = search ? `${path.includes('?') ? '&' : '?'}${search.slice(1)}` : '';
  return fetch(`http://127.0.0.1:${port}${path}${query}`, { redirect: 'manual', ...init, headers });
}

/** A WebSocket to a preview, and what happens on it. */
export interface TestSocket {
  readonly socket: Socket;
  readonly opened: Promise<void>;
  readonly closed: Promise<{ code: number; reason: string }>;
  next(): Promise<Buffer>;
}

/** Opens a WebSocket to a preview. `opened` rejects with the status when it is refused. */
export function openSocket(
  previewUrl: string,
  path: string,
  { protocols = [], headers = {} }: { protocols?: readonly string[]; headers?: Record<string, string> } = {},
): TestSocket {
  const { host, port } = new URL(previewUrl);
  const options = { headers: { host, ...headers }, perMessageDeflate: false } as never;
  const socket = new Socket(`ws://127.0.0.1:${port}${path}`, protocols, options);
  const received: Buffer[] = [];
  socket.on('message', (data) => received.push(data));
  const opened = new Promise<void>((resolve, reject) => {
    socket.once('open', () => resolve());
    socket.once('unexpected-response', (_, { statusCode }) =>
      reject(new Error(`refused with ${statusCode}`)),
    );
    socket.on('error', reject);
  });
  opened.catch(() => undefined);
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  return { socket, opened, closed, next: () => until(() => received.shift()) };
}
