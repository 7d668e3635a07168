import type { Socket } from 'bun';
import { inNetworkOf } from '../../host/network-namespace.ts';

/** Answers a packet that came from an address; undefined when it gets no answer. */
export type Answerer = (bytes: Buffer, from: string, transport: 'udp' | 'tcp') => Promise<Buffer | undefined>;

/** Where questions are listened for. */
export interface ListenPlace {
  readonly hostname: string;
  /** Tried first, so that askers that keep their socket find the listener again after a restart. */
  readonly port: number;
  /** A process whose network it is in; this one's when absent. */
  readonly pid?: number;
}

/** Questions are listened for, by UDP and TCP, at one port. */
export interface Listener {
  readonly port: number;
  close(): void;
}

interface Stream {
  received: Buffer;
  unsent: Buffer;
  isAnswering: boolean;
  readonly from: string;
}

const ATTEMPTS = 20;
const IDLE_SECONDS = 10;
const STREAMS_OF_BOX = 16;
const LONGEST_QUERY = 1_024;
const MAX_RECEIVED = 4 * LONGEST_QUERY;
/** Answers that a reader leaves lying. */
const MAX_UNSENT = 256 * 1024;

/** Listens at the wanted port, else at another one. Errors: those of the last attempt. */
export async function listen(place: ListenPlace, answer: Answerer): Promise<Listener> {
  let failure: unknown;
  for (let i = 0; i < ATTEMPTS; i++) {
    try {
      return await listenAt({ ...place, port: i === 0 ? place.port : 0 }, answer);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

async function listenAt({ hostname, port, pid }: ListenPlace, answer: Answerer): Promise<Listener> {
  const streams = inNetworkOf(pid, () => listenStreams(hostname, port, answer));
  try {
    const datagrams = await inNetworkOf(pid, () =>
      Bun.udpSocket({
        hostname,
        port: streams.port,
        socket: {
          data(socket, bytes, fromPort, from) {
            void answer(bytes, from, 'udp').then(
              (reply) => reply && !socket.closed && socket.send(reply, fromPort, from),
              () => {},
            );
          },
          // An asker that has left: the next one is served all the same.
          error: () => {},
        },
      }),
    );
    return {
      port: streams.port,
      close() {
        datagrams.close();
        streams.stop(true);
      },
    };
  } catch (error) {
    streams.stop(true);
    throw error;
  }
}

function listenStreams(hostname: string, port: number, answer: Answerer) {
  const open = new Map<string, number>();
  return Bun.listen<Stream>({
    hostname,
    port,
    socket: {
      open(socket) {
        const from = socket.remoteAddress;
        const count = (open.get(from) ?? 0) + 1;
        open.set(from, count);
        socket.data = { received: Buffer.alloc(0), unsent: Buffer.alloc(0), isAnswering: false, from };
        socket.timeout(IDLE_SECONDS);
        if (count > STREAMS_OF_BOX) socket.terminate();
      },
      data(socket, bytes) {
        socket.data.received = Buffer.concat([socket.data.received, bytes]);
        if (socket.data.received.length > MAX_RECEIVED) socket.terminate();
        else void answerNext(socket, answer);
      },
      drain: (socket) => send(socket),
      timeout: (socket) => void socket.terminate(),
      error: () => {},
      close({ data }) {
        const left = (open.get(data.from) ?? 1) - 1;
        if (left > 0) open.set(data.from, left);
        else open.delete(data.from);
      },
    },
  });
}

/** Questions of one connection are answered one after another (RFC 7766: each with its length before it). */
async function answerNext(socket: Socket<Stream>, answer: Answerer): Promise<void> {
  const { data } = socket;
  if (data.isAnswering) return;
  data.isAnswering = true;
  while (data.received.length >= 2 && data.received.length >= data.received.readUInt16BE(0) + 2) {
    const end = data.received.readUInt16BE(0) + 2;
    const query = data.received.subarray(2, end);
    data.received = data.received.subarray(end);
    const reply = await answer(query, data.from, 'tcp').catch(() => undefined);
    if (!reply || data.unsent.length > MAX_UNSENT) {
      socket.terminate();
      return;
    }
    const head = Buffer.alloc(2);
    head.writeUInt16BE(reply.length);
    data.unsent = Buffer.concat([data.unsent, head, reply]);
    send(socket);
  }
  data.isAnswering = false;
}

function send(socket: Socket<Stream>): void {
  const { data } = socket;
  if (data.unsent.length === 0) return;
  const sent = socket.write(data.unsent);
  data.unsent = sent < 0 ? Buffer.alloc(0) : data.unsent.subarray(sent);
}
