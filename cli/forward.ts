import { createServer, type Socket } from 'node:net';
import { sandboxPorts } from '../src/api/sandbox/ports.ts';
import type { Client } from '../src/client/client.ts';
import { fail } from '../src/errors/app-error.ts';

/** Bytes that wait for the network: above this nothing more is read from the program here. */
const HIGH_WATER = 1024 * 1024;
const DRAIN_POLL_MS = 5;

/** Bun's WebSocket can stop reading, which holds the sandbox back. */
type PausableSocket = WebSocket & { pause(): boolean; resume(): boolean };

/**
 * Listens at 127.0.0.1 and carries each connection to a port of a sandbox. Answers the port here; `failed` is told of
 * connections that could not be made. Errors: failed_precondition when the port is taken.
 */
export function forwardPort(
  client: Client,
  sandboxId: string,
  local: number,
  remote: number,
  failed: (error: unknown) => void,
): Promise<number> {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (program) => {
    program.on('error', () => undefined);
    client
      .socket(sandboxPorts.ConnectSandboxPort, { params: { sandboxId, port: remote } })
      .then((socket) => carry(program, socket as PausableSocket))
      .catch((error) => {
        program.destroy();
        failed(error);
      });
  });
  return new Promise((resolve, reject) => {
    server.once('error', () =>
      reject(
        fail('failed_precondition', {
          message: `127.0.0.1:${local} cannot be listened on; choose another port.`,
        }),
      ),
    );
    server.listen(local, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : local);
    });
  });
}

function carry(program: Socket, socket: PausableSocket): void {
  program.on('drain', () => socket.resume());
  program.on('close', () => socket.close());
  socket.addEventListener('message', ({ data }) => {
    if (typeof data === 'string') program.end();
    else if (program.writable && !program.write(new Uint8Array(data))) socket.pause();
  });
  socket.addEventListener('close', ({ code }) => {
    if (code === 1000) program.end(() => program.destroy());
    else program.destroy();
  });
  void feed(program, socket).catch(() => program.destroy());
}

async function feed(program: Socket, socket: WebSocket): Promise<void> {
  for await (const bytes of program.iterator({ destroyOnReturn: false })) {
    while (socket.bufferedAmount > HIGH_WATER) await Bun.sleep(DRAIN_POLL_MS);
    if (socket.readyState !== WebSocket.OPEN) return;
    socket.send(bytes);
  }
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ type: 'eof' }));
}
