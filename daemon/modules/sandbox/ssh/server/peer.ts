import type { Socket } from 'node:net';
import type { Connection } from 'ssh2';
import { SECOND_MS } from '../../../../../src/kit/time.ts';
import type { Log } from '../../../../log/log.ts';
import type { Entry, OpenConnection } from '../connections.ts';

/** A connection that has logged in, as its channels see it. */
export class Peer implements OpenConnection {
  private readonly controller = new AbortController();
  private channels = 0;
  private emptySessions = 0;

  constructor(
    readonly entry: Entry,
    readonly connection: Connection,
    readonly socket: Socket,
    readonly log: Log,
  ) {}

  /** Aborted when the connection is over. */
  get gone(): AbortSignal {
    return this.controller.signal;
  }

  /** Takes one of the channels that a connection may have; false when there are none left. */
  takeChannel(): boolean {
    if (this.channels >= MOST_CHANNELS || this.gone.aborted) return false;
    this.channels++;
    return true;
  }

  giveChannel(): void {
    this.channels--;
  }

  /** The peer has opened and closed a session without asking for anything. The library keeps a record of each. */
  sawEmptySession(): void {
    if (++this.emptySessions > MOST_EMPTY_SESSIONS) this.close('it opens sessions and uses none');
  }

  close(reason: string): void {
    if (this.gone.aborted) return;
    this.log.info('an SSH connection is closed', { sandbox: this.entry.sandboxId, reason });
    this.connection.end();
    this.over();
    setTimeout(() => this.socket.destroy(), LINGER_MS).unref();
  }

  /** The connection is over. */
  over(): void {
    this.controller.abort();
  }
}

const MOST_CHANNELS = 128;
const MOST_EMPTY_SESSIONS = 1_000;
/** How long the peer has to take the last packet. */
const LINGER_MS = SECOND_MS;
