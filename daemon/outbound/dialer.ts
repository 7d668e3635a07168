import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { SECOND_MS } from '../../src/kit/time.ts';

/** Opens a TCP connection to an address, never to a name. Errors: those of the system, with their `code`. */
export type Dialer = (address: string, port: number, signal?: AbortSignal) => Promise<Duplex>;

const CONNECT_MS = 10 * SECOND_MS;

/** Connects to exactly this address. Each end may say that it is done while the other still sends. */
export const dial: Dialer = (address, port, signal) => {
  const { promise, resolve, reject } = Promise.withResolvers<Duplex>();
  const socket = connect({ host: address, port, allowHalfOpen: true });
  const late = setTimeout(() => socket.destroy(timeoutError()), CONNECT_MS);
  const leave = () => socket.destroy(new Error('the caller left'));
  signal?.addEventListener('abort', leave, { once: true });
  if (signal?.aborted) leave();
  const settle = () => {
    clearTimeout(late);
    signal?.removeEventListener('abort', leave);
  };
  socket.once('connect', () => {
    settle();
    socket.off('error', reject);
    socket.setNoDelay(true);
    resolve(socket);
  });
  socket.once('error', reject);
  socket.once('close', () => {
    settle();
    reject(new Error('the connection was closed'));
  });
  return promise;
};

function timeoutError(): Error {
  return Object.assign(new Error('no answer in time'), { name: 'TimeoutError' });
}
