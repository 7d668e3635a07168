import type { Server, ServerWebSocket } from 'bun';
import { fail } from '../../src/errors/app-error.ts';
import type { SocketSession, SocketWriter } from './route.ts';

/** Handlers that Elysia's listener calls for a socket: it looks them up in the socket's data. */
interface SocketData {
  open(socket: ServerWebSocket<SocketData>): void;
  message(socket: ServerWebSocket<SocketData>, message: string | Buffer): void;
  drain(socket: ServerWebSocket<SocketData>): void;
  close(socket: ServerWebSocket<SocketData>, code: number, reason: string): void;
}

/** Above this many unsent bytes a writer is told to wait. */
const HIGH_WATER = 1024 * 1024;

/** Turns a request into a WebSocket that the session serves. Errors: malformed_body when it asks for none. */
export function upgrade(
  server: Server<unknown> | null,
  request: Request,
  session: SocketSession,
  headers: Headers,
): void {
  const waiting: Array<() => void> = [];
  const wakeAll = () => {
    for (const wake of waiting.splice(0)) wake();
  };
  const data: SocketData = {
    open: (socket) => session.open(writerOf(socket, waiting)),
    message: (_, message) => session.message(message),
    drain: wakeAll,
    close(_, code, reason) {
      wakeAll();
      session.closed(code, reason);
    },
  };
  if (server?.upgrade(request, { data, headers })) return;
  session.closed(1002, 'not a WebSocket request');
  throw notASocket();
}

/** Refuses a plain request before anything is started for it. Errors: malformed_body. */
export function requireUpgrade(request: Request): void {
  if (request.headers.get('upgrade')?.toLowerCase() !== 'websocket') throw notASocket();
}

function notASocket() {
  return fail('malformed_body', { message: 'This operation is a WebSocket: send Upgrade: websocket.' });
}

function writerOf(socket: ServerWebSocket<SocketData>, waiting: Array<() => void>): SocketWriter {
  const isFull = () => socket.readyState === WebSocket.OPEN && socket.getBufferedAmount() > HIGH_WATER;
  return {
    send(data) {
      socket.send(data);
      return !isFull();
    },
    drained: () => (isFull() ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve()),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    close: (code = 1000, reason = '') => socket.close(code, reason),
  };
}
