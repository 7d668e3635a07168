import { Agent, type AgentOptions } from 'node:http';
import type { Duplex } from 'node:stream';
import type { SandboxDriver } from '../../drivers/driver.ts';

/** Connections to one port at once, and how many of them wait for the next request; how long they may. */
const MAX_SOCKETS = 256;
const MAX_IDLE = 16;
const IDLE_MS = 15_000;

/** Where a request goes. */
export interface BoxTarget {
  readonly sandboxId: string;
  readonly port: number;
}

type Callback = (error: Error | null, stream: Duplex) => void;

/** Keeps connections to the ports of sandboxes for the next request. */
export class BoxAgent extends Agent {
  constructor(private readonly driver: SandboxDriver) {
    super({
      keepAlive: true,
      maxSockets: MAX_SOCKETS,
      maxFreeSockets: MAX_IDLE,
      timeout: IDLE_MS,
      scheduling: 'lifo',
    });
  }

  override getName(options?: AgentOptions & Partial<BoxTarget>): string {
    return `${options?.sandboxId}:${options?.port}`;
  }

  override createConnection(options: AgentOptions & Partial<BoxTarget>, callback: Callback): undefined {
    this.driver.dial(options.sandboxId ?? '', options.port ?? 0).then(
      (connection) => {
        // HTTP knows no half-closed connections: one that the server has ended is not kept for a next request.
        connection.once('end', () => connection.end());
        callback(null, connection);
      },
      (error) => callback(error, undefined as never),
    );
    return undefined;
  }
}
