import { type Answer, decode, encode, RECURSION_AVAILABLE } from 'dns-packet';

/** What a name server of tests knows: records by name. */
export type Zone = Readonly<Record<string, readonly Answer[]>>;

/** A name server of tests. */
export interface TestNameServer {
  readonly port: number;
  /** Every name that it was asked for. */
  readonly asked: string[];
  stop(): void;
}

const NO_NAME = 3;

/** An address record that may be remembered for a minute. */
export function a(name: string, ...addresses: string[]): Answer[] {
  return addresses.map((data) => ({ name, type: 'A', ttl: 60, data }));
}

/** Answers by UDP and TCP from a zone; a name that is not in it is not there. */
export async function serveNames(hostname: string, port: number, zone: Zone): Promise<TestNameServer> {
  const asked: string[] = [];
  const answer = (bytes: Buffer) => {
    const { id, questions = [] } = decode(bytes);
    const [question] = questions;
    const name = question?.name.toLowerCase() ?? '';
    asked.push(name);
    const known = zone[name];
    const answers = (known ?? []).filter(({ type }) => type === question?.type || type === 'CNAME');
    const flags = RECURSION_AVAILABLE | (known ? 0 : NO_NAME);
    return encode({ type: 'response', id, flags, questions, answers: [...answers] });
  };
  const streams = Bun.listen({
    hostname,
    port,
    socket: {
      data(socket, bytes) {
        const reply = answer(bytes.subarray(2));
        const head = Buffer.alloc(2);
        head.writeUInt16BE(reply.length);
        socket.write(Buffer.concat([head, reply]));
      },
      error: () => {},
    },
  });
  const datagrams = await Bun.udpSocket({
    hostname,
    port: streams.port,
    socket: {
      data: (socket, bytes, from, address) => void socket.send(answer(bytes), from, address),
      error: () => {},
    },
  });
  return {
    port: streams.port,
    asked,
    stop() {
      streams.stop(true);
      datagrams.close();
    },
  };
}
