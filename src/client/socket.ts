import { type AppError, fail } from '../errors/app-error.ts';
import { type RemoteError, readError } from './remote-error.ts';
import { connectionError } from './unreachable.ts';

/** A WebSocket to open. */
interface SocketRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Asks for the same address over plain HTTP, to learn why the upgrade was refused. */
  explain(): Promise<Response>;
}

/** The constructor as Bun has it: the second argument may carry headers. Browsers have no such thing. */
type SocketConstructor = new (
  url: string,
  options?: { headers: Readonly<Record<string, string>> },
) => WebSocket;

/** Opens a WebSocket with binary frames as ArrayBuffer; resolves when it is open. */
export function openSocket(request: SocketRequest): Promise<WebSocket> {
  const Socket = WebSocket as unknown as SocketConstructor;
  const withHeaders = Object.keys(request.headers).length > 0;
  const socket = withHeaders
    ? new Socket(request.url, { headers: request.headers })
    : new Socket(request.url);
  socket.binaryType = 'arraybuffer';
  return new Promise((resolve, reject) => {
    const abort = () => {
      socket.close();
      reject(fail('cancelled'));
    };
    request.signal?.addEventListener('abort', abort, { once: true });
    const settle = () => request.signal?.removeEventListener('abort', abort);
    socket.addEventListener('open', () => resolve(socket), { once: true });
    socket.addEventListener('open', settle, { once: true });
    socket.addEventListener('error', () => void refusal(request).then(reject), { once: true });
    socket.addEventListener('error', settle, { once: true });
  });
}

/** Why no socket opened. A browser and Bun alike hide the answer to the upgrade. */
async function refusal(request: SocketRequest): Promise<AppError | RemoteError> {
  try {
    const error = await readError(await request.explain());
    // Asked without Upgrade, an operation that would have let the socket in answers malformed_body.
    const wouldOpen = error.http < 400 || error.code === 'malformed_body';
    return wouldOpen ? fail('unreachable', { url: request.url, why: 'it opened no WebSocket' }) : error;
  } catch (error) {
    return connectionError(request.url, error, request.signal);
  }
}
