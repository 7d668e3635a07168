import {
  type Answer,
  type DecodedPacket,
  decode,
  encode,
  type Question,
  RECURSION_AVAILABLE,
  RECURSION_DESIRED,
  TRUNCATED_RESPONSE,
} from 'dns-packet';

/** What a box asks for. */
export interface Query {
  readonly id: number;
  /** In the letters of the asker, without a dot at its end. */
  readonly name: string;
  readonly type: Question['type'];
  /** Bytes that the asker takes in one datagram. */
  readonly size: number;
  /** The asker speaks EDNS (RFC 6891), so its answers carry it too. */
  readonly hasExtensions: boolean;
}

/** Codes of answers (RFC 1035, 4.1.1). */
export const RCODE = { ok: 0, malformed: 1, failed: 2, noName: 3, notKnown: 4, refused: 5 } as const;

/** An answer's code. */
export type Rcode = (typeof RCODE)[keyof typeof RCODE];

/** A question that cannot be read; the answer says why. */
export interface Unreadable {
  readonly id: number;
  readonly rcode: Rcode;
}

const HEADER = 12;
const LONGEST_QUERY = 1_024;
const CLASSIC_SIZE = 512;
/** What passes every network whole (DNS flag day 2020). */
const LARGEST_DATAGRAM = 1_232;
const NAME = /^(?=.{1,253}$)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/i;
const MOST_RECORDS = 256;
/** Questions about whole zones, and those whose answers are large for nothing (RFC 8482). */
const REFUSED_TYPES = new Set(['AXFR', 'IXFR', 'ANY', 'OPT', 'MAILA', 'MAILB', 'TKEY', 'TSIG']);

/**
 * Reads a question from a packet that anybody may have made. Undefined when it is not even worth an answer.
 * A name with other letters than host names have is refused: its parts could not be told apart in text.
 */
export function readQuery(bytes: Buffer): Query | Unreadable | undefined {
  if (bytes.length < HEADER || bytes.length > LONGEST_QUERY || (bytes[2] ?? 0) & 0x80) return undefined;
  const id = bytes.readUInt16BE(0);
  if (((bytes[2] ?? 0) >> 3) & 0xf) return { id, rcode: RCODE.notKnown };
  const counts = [4, 6, 8].map((at) => bytes.readUInt16BE(at));
  if (counts.join() !== '1,0,0' || bytes.readUInt16BE(10) > 1) return { id, rcode: RCODE.malformed };
  const packet = tryDecode(bytes);
  const question = packet?.questions?.[0];
  if (!packet || !question) return { id, rcode: RCODE.malformed };
  const { name, type } = question;
  if (!NAME.test(name) || (question.class ?? 'IN') !== 'IN' || REFUSED_TYPES.has(type))
    return { id, rcode: RCODE.refused };
  const extensions = packet.additionals?.find((record) => record.type === 'OPT');
  const size = extensions?.type === 'OPT' ? extensions.udpPayloadSize : CLASSIC_SIZE;
  return {
    id,
    name,
    type,
    size: Math.min(Math.max(size, CLASSIC_SIZE), LARGEST_DATAGRAM),
    hasExtensions: extensions !== undefined,
  };
}

/** The answer to what cannot be read. */
export function writeUnreadable({ id, rcode }: Unreadable): Buffer {
  return encode({ type: 'response', id, flags: RECURSION_AVAILABLE | rcode });
}

/** What an answer says. */
export interface Reply {
  readonly rcode: number;
  readonly answers?: readonly Answer[];
  readonly authorities?: readonly Answer[];
  /** Why, in words for whoever looks at it (RFC 8914: 18 is "prohibited"). */
  readonly why?: string;
}

const PROHIBITED = 18;
const EXTENDED_ERROR = 15;

/** An answer's bytes; in a datagram an answer that does not fit says so, and is asked for again by TCP. */
export function writeReply(query: Query, reply: Reply, transport: 'udp' | 'tcp'): Buffer {
  const { rcode, answers = [], authorities = [] } = reply;
  const flags = RECURSION_DESIRED | RECURSION_AVAILABLE | rcode;
  const packet = {
    type: 'response' as const,
    id: query.id,
    flags,
    questions: [{ name: query.name, type: query.type }],
    additionals: query.hasExtensions ? [extensions(reply.why)] : [],
  };
  const whole = encode({ ...packet, answers: [...answers], authorities: [...authorities] });
  if (transport === 'tcp' || whole.length <= query.size) return whole;
  return encode({ ...packet, flags: flags | TRUNCATED_RESPONSE });
}

/** A question for a name server, with an id of its own. */
export function writeQuestion(id: number, { name, type }: Pick<Query, 'name' | 'type'>): Buffer {
  return encode({
    type: 'query',
    id,
    flags: RECURSION_DESIRED,
    questions: [{ name, type }],
    additionals: [extensions()],
  });
}

/** A name server's answer to this very question; undefined when it is not that. */
export function readAnswer(bytes: Buffer, id: number, query: Query): DecodedPacket | undefined {
  if (bytes.length < HEADER || bytes.readUInt16BE(0) !== id) return undefined;
  const records = [6, 8, 10].reduce((sum, at) => sum + bytes.readUInt16BE(at), 0);
  if (records > MOST_RECORDS) return undefined;
  const packet = tryDecode(bytes);
  const [question] = packet?.questions ?? [];
  const isSame =
    packet?.flag_qr === true &&
    question?.name.toLowerCase() === query.name.toLowerCase() &&
    question.type === query.type;
  return isSame ? packet : undefined;
}

/** The code of an answer. */
export function rcodeOf(packet: DecodedPacket): number {
  return (packet.flags ?? 0) & 0xf;
}

function tryDecode(bytes: Buffer): DecodedPacket | undefined {
  try {
    return decode(bytes);
  } catch {
    return undefined;
  }
}

function extensions(why?: string): Answer {
  const data = why === undefined ? undefined : Buffer.from(`\0\0${why}`);
  data?.writeUInt16BE(PROHIBITED, 0);
  // The declarations of the library name the options that it knows; it writes any by its number.
  const options = data ? ([{ code: EXTENDED_ERROR, data }] as unknown as []) : [];
  return {
    type: 'OPT',
    name: '.',
    udpPayloadSize: LARGEST_DATAGRAM,
    extendedRcode: 0,
    ednsVersion: 0,
    flags: 0,
    flag_do: false,
    options,
  };
}
