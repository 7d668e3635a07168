import type { DecodedPacket } from 'dns-packet';
import { type Query, RCODE, rcodeOf, readAnswer, writeQuestion } from './message.ts';

/** A name server: an address and its port. */
export interface NameServer {
  readonly hostname: string;
  readonly port: number;
}

/** Finds the answer to a question; undefined when no name server gave one in time. */
export type Ask = (query: Query) => Promise<DecodedPacket | undefined>;

const TRY_MS = 1_500;
const ROUNDS = 2;
const LARGEST_ANSWER = 65_535;

/** Asks name servers one after another, twice. One that fails or stays silent passes the question on. */
export function askServers(servers: () => readonly NameServer[]): Ask {
  return async (query) => {
    let failure: DecodedPacket | undefined;
    for (let round = 0; round < ROUNDS; round++) {
      for (const server of servers()) {
        const answer = await askServer(server, query);
        if (answer && rcodeOf(answer) !== RCODE.failed && rcodeOf(answer) !== RCODE.refused) return answer;
        failure = answer ?? failure;
      }
      if (failure) return failure;
    }
    return undefined;
  };
}

async function askServer(server: NameServer, query: Query): Promise<DecodedPacket | undefined> {
  const answer = await askOnce(server, query, byDatagram);
  return answer?.flag_tc ? ((await askOnce(server, query, byStream)) ?? answer) : answer;
}

type Stop = () => void;
/** Carries a question there and what comes back here. */
type Carrier = (server: NameServer, question: Buffer, on: Arrival) => Promise<Stop>;

interface Arrival {
  readonly bytes: (bytes: Buffer) => void;
  readonly failure: () => void;
}

/** One question with an id and a port of its own. Others may send answers too: only a fitting one counts. */
async function askOnce(server: NameServer, query: Query, carry: Carrier): Promise<DecodedPacket | undefined> {
  const [id = 0] = crypto.getRandomValues(new Uint16Array(1));
  const { promise, resolve } = Promise.withResolvers<DecodedPacket | undefined>();
  const arrival: Arrival = {
    bytes(bytes) {
      const answer = readAnswer(bytes, id, query);
      if (answer) resolve(answer);
    },
    failure: () => resolve(undefined),
  };
  const late = setTimeout(() => resolve(undefined), TRY_MS);
  let stop: Stop | undefined;
  let isOver = false;
  carry(server, writeQuestion(id, query), arrival).then((made) => {
    if (isOver) made();
    else stop = made;
  }, arrival.failure);
  try {
    return await promise;
  } finally {
    isOver = true;
    clearTimeout(late);
    stop?.();
  }
}

const byDatagram: Carrier = async (server, question, on) => {
  const socket = await Bun.udpSocket({
    connect: server,
    socket: {
      data: (_, bytes) => on.bytes(bytes),
      error: on.failure,
    },
  });
  socket.send(question);
  return () => socket.close();
};

const byStream: Carrier = async (server, question, on) => {
  let received = Buffer.alloc(0);
  const socket = await Bun.connect({
    ...server,
    socket: {
      data(socket, bytes) {
        received = Buffer.concat([received, bytes]);
        const length = received.length < 2 ? LARGEST_ANSWER : received.readUInt16BE(0);
        if (received.length >= length + 2) {
          on.bytes(received.subarray(2, length + 2));
          socket.end();
        } else if (received.length > LARGEST_ANSWER + 2) socket.end();
      },
      close: on.failure,
      error: on.failure,
    },
  });
  const head = Buffer.alloc(2);
  head.writeUInt16BE(question.length);
  socket.write(Buffer.concat([head, question]));
  return () => socket.end();
};
