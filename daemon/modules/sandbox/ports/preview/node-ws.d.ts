/** The part of ws 8 that previews use. Under its own name it is replaced by the runtime's, which dials by itself. */
declare module 'node-ws' {
  import type { EventEmitter } from 'node:events';
  import type { ClientRequest, IncomingMessage } from 'node:http';
  import type { Duplex } from 'node:stream';

  export interface ClientOptions {
    readonly createConnection: () => Duplex;
    readonly headers: Readonly<Record<string, string>>;
    readonly perMessageDeflate: boolean;
    readonly maxPayload: number;
    readonly followRedirects: boolean;
    readonly handshakeTimeout: number;
  }

  interface SocketEvents {
    open: [];
    upgrade: [response: IncomingMessage];
    'unexpected-response': [request: ClientRequest, response: IncomingMessage];
    message: [data: Buffer, isBinary: boolean];
    close: [code: number, reason: Buffer];
    error: [error: Error];
  }

  export class WebSocket extends EventEmitter<SocketEvents> {
    constructor(address: string, protocols: readonly string[], options: ClientOptions);
    readonly protocol: string;
    readonly readyState: number;
    readonly bufferedAmount: number;
    send(data: string | Uint8Array, sent?: (error?: Error) => void): void;
    close(code?: number, reason?: string): void;
    terminate(): void;
    pause(): void;
    resume(): void;
    static readonly OPEN: number;
  }
}
