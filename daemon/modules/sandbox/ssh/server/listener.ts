import { createServer, type Server, type Socket } from 'node:net';
import type { Connection, ServerChannel, Session } from 'ssh2';
import { MINUTE_MS, SECOND_MS } from '../../../../../src/kit/time.ts';
import type { App } from '../../../../app.ts';
import type { SandboxEvents } from '../../history/events.ts';
import type { Connections, Entry } from '../connections.ts';
import type { HostKey } from '../host-key.ts';
import { Admission, type Place } from './admission.ts';
import { Login } from './login.ts';
import { Peer } from './peer.ts';
import { Penalties, sourceOf } from './penalties.ts';
import { type SessionParts, serveSession } from './session.ts';
import { serveTunnel, type TunnelParts } from './tunnel.ts';

type Ssh2 = typeof import('ssh2');

/** What the listener is made of. */
export interface ListenerParts extends SessionParts, TunnelParts {
  readonly app: App;
  readonly connections: Connections;
  readonly events: Pick<SandboxEvents, 'record'>;
}

/** Where it listens, or why it does not. */
export type Listening = { readonly host: string; readonly port: number } | { readonly reason: string };

const LOGIN_GRACE_MS = 20 * SECOND_MS;
const LIMITS = { total: 1024, perSource: 256, waiting: 128, waitingPerSource: 32 };
/** A port that was taken is asked for again. */
const RETRY_MS = 30 * SECOND_MS;
/** How often it is looked whether whoever is in may stay. */
const RECHECK_MS = 5 * SECOND_MS;
const KEEPALIVE_MS = MINUTE_MS;
const LINGER_MS = SECOND_MS;
/** Output that a peer has asked for and does not take; above this nothing more is read from it. */
const MOST_UNSENT = 4 * 1024 * 1024;

/** Modern algorithms alone: elliptic curves, authenticated encryption, no SHA-1, no compression. */
const ALGORITHMS = {
  kex: [
    'curve25519-sha256',
    'curve25519-sha256@libssh.org',
    'ecdh-sha2-nistp256',
    'ecdh-sha2-nistp384',
    'ecdh-sha2-nistp521',
  ],
  cipher: ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com', 'aes256-ctr', 'aes128-ctr'],
  hmac: ['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com', 'hmac-sha2-256', 'hmac-sha2-512'],
  compress: ['none'],
} as const;

/** A connection that has not logged in yet. */
interface Arrival {
  readonly socket: Socket;
  readonly place: Place;
  readonly grace: Timer;
}

/** The SSH server: takes connections within limits, lets them log in, and serves what they ask for. */
export class SshListener {
  private readonly penalties: Penalties;
  private readonly admission: Admission;
  private readonly arrivals = new Map<string, Arrival>();
  private net: Server | undefined;
  private retry: Timer | undefined;
  private recheck: Timer | undefined;
  private isStopped = false;

  constructor(
    private readonly ssh2: Ssh2,
    private readonly hostKey: HostKey,
    private readonly parts: ListenerParts,
  ) {
    this.penalties = new Penalties(parts.app.clock);
    this.admission = new Admission(LIMITS, this.penalties);
  }

  /** Listens. A port that is taken is no error: the answer says so, and it is tried again. */
  async open(host: string, port: number): Promise<Listening> {
    const ssh = new this.ssh2.Server(
      {
        hostKeys: [this.hostKey.privateKey],
        ident: 'svc',
        algorithms: ALGORITHMS as never,
        keepaliveInterval: KEEPALIVE_MS,
        keepaliveCountMax: 3,
      } as never,
      (connection, { ip, port: peerPort }) => this.greet(connection, this.arrivals.get(`${ip} ${peerPort}`)),
    );
    const net = createServer({ noDelay: true, keepAlive: true }, (socket) => this.take(socket, ssh));
    this.recheck ??= setInterval(() => this.expelWhoMayNotStay(), RECHECK_MS);
    this.recheck.unref();
    const listening = await listen(net, host, port);
    if ('reason' in listening) return listening;
    this.net = net;
    return listening;
  }

  /** Tries again later, until it listens. */
  openLater(host: string, port: number, opened: (listening: Listening) => void): void {
    if (this.isStopped) return;
    this.retry = setTimeout(async () => {
      const listening = await this.open(host, port);
      if ('reason' in listening) this.openLater(host, port, opened);
      else opened(listening);
    }, RETRY_MS);
    this.retry.unref();
  }

  close(): void {
    this.isStopped = true;
    clearTimeout(this.retry);
    clearInterval(this.recheck);
    this.net?.close();
    this.parts.connections.closeWhere(() => true, 'svc is stopping');
    for (const { socket } of this.arrivals.values()) socket.destroy();
  }

  private take(socket: Socket, ssh: InstanceType<Ssh2['Server']>): void {
    const { remoteAddress, remotePort } = socket;
    socket.on('error', () => socket.destroy());
    if (remoteAddress === undefined) return void socket.destroy();
    const source = sourceOf(remoteAddress);
    const place = this.admission.admit(source);
    if (typeof place === 'string') {
      this.parts.app.log.debug('an SSH connection is refused', { source, reason: place });
      return void socket.destroy();
    }
    const id = `${remoteAddress} ${remotePort}`;
    const grace = setTimeout(() => {
      this.penalties.fail(source);
      socket.destroy();
    }, LOGIN_GRACE_MS);
    this.arrivals.set(id, { socket, place, grace });
    socket.once('close', () => {
      clearTimeout(grace);
      place.leave();
      this.arrivals.delete(id);
    });
    holdBack(socket);
    ssh.injectSocket(socket);
  }

  private greet(connection: Connection, arrival: Arrival | undefined): void {
    const { app, door, connections } = this.parts;
    connection.on('error', (error) => app.log.debug('an SSH connection broke', { reason: error.message }));
    // A peer that left before its first line was read has no address any more.
    if (!arrival) return void connection.end();
    const { socket, place } = arrival;
    connection.on('error', () => endSoon(socket));
    let peer: Peer | undefined;
    const login = new Login(connection, {
      utils: this.ssh2.utils,
      door,
      failed: () => this.penalties.fail(place.source),
      giveUp: () => socket.destroy(),
      entered: (entry) => {
        peer = this.enter(entry, connection, arrival);
      },
    });
    socket.once('close', () => {
      login.end();
      peer?.over();
      if (peer) connections.remove(peer);
      else if (login.hasTried) this.penalties.fail(place.source);
    });
  }

  private enter(entry: Entry, connection: Connection, { socket, place, grace }: Arrival): Peer {
    const { app, door, connections, events } = this.parts;
    clearTimeout(grace);
    place.enter();
    const peer = new Peer(entry, connection, socket, app.log);
    connections.add(peer);
    door.entered(entry);
    const by = entry.credential.kind === 'key' ? entry.credential.user : entry.credential.id;
    const event = { type: 'ssh.opened', message: `SSH from ${place.source}`, metadata: { by } };
    events.record(entry.tenant, entry.sandboxId, event);
    this.serve(connection, peer);
    return peer;
  }

  private serve(connection: Connection, peer: Peer): void {
    connection.on('session', (accept, reject) => {
      if (!peer.takeChannel()) return void reject();
      const session = accept() as Session | undefined;
      if (!session) return;
      const served = serveSession(session, peer, this.parts);
      session.once('close', () => {
        peer.giveChannel();
        if (!served.isStarted) peer.sawEmptySession();
      });
    });
    connection.on('tcpip', (accept, reject, info) => {
      if (!peer.takeChannel()) return void reject();
      const counted = () => {
        const channel = accept() as ServerChannel | undefined;
        channel?.once('close', () => peer.giveChannel());
        return channel;
      };
      const refused = () => {
        peer.giveChannel();
        reject();
      };
      void serveTunnel(counted, refused, info, peer, this.parts);
    });
  }

  private expelWhoMayNotStay(): void {
    this.parts.connections.closeWhere(
      (entry) => !this.parts.door.holds(entry),
      'its user may not enter any more',
    );
  }
}

/** Ends a connection, and does not wait long for the peer to agree. */
function endSoon(socket: Socket): void {
  socket.end();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

/** Reads nothing more from a peer that does not take what it has asked for. */
function holdBack(socket: Socket): void {
  socket.on('data', () => {
    if (socket.writableLength <= MOST_UNSENT) return;
    socket.pause();
    socket.once('drain', () => socket.resume());
  });
}

function listen(net: Server, host: string, port: number): Promise<Listening> {
  return new Promise((resolve) => {
    net.once('error', (error: NodeJS.ErrnoException) => {
      const reason =
        error.code === 'EADDRINUSE'
          ? `port ${port} is taken`
          : `it cannot listen on ${host}:${port}: ${error.code ?? error.message}`;
      resolve({ reason });
    });
    net.listen({ host, port }, () => {
      const address = net.address();
      resolve({ host, port: typeof address === 'object' && address ? address.port : port });
    });
  });
}
