import type { Answer, DecodedPacket } from 'dns-packet';
import { reachOf } from '../../../../../outbound/address.ts';
import type { Lookup, NetworkPolicy } from '../../driver.ts';
import { overlaps, parseAddress, parseBlock } from '../address.ts';
import { allowsName, isLocalName } from '../host-names.ts';
import { type Query, RCODE, type Reply, rcodeOf, readQuery, writeReply, writeUnreadable } from './message.ts';
import type { Ask } from './upstream.ts';

/** What the forwarder needs of the rules. */
export interface NameRules {
  /** The box at an address; undefined when there is none. */
  find(address: number): { readonly id: string; readonly policy: NetworkPolicy } | undefined;
  /** Opens what a name led to. False when there is no room. */
  learn(box: number, name: string, addresses: readonly number[]): Promise<boolean>;
}

/** What the forwarder is made of. */
export interface ForwarderParts {
  readonly rules: NameRules;
  readonly ask: Ask;
  readonly record: (id: string, lookup: Lookup) => void;
}

/** Seconds that a box may remember an answer: less than the address that it holds stays open. */
const LONGEST_TTL = 300;
const MOST_OF_BOX = 64;
const MOST_AT_ONCE = 1_024;
const MOST_ADDRESSES = 32;
/** Records that name other addresses to connect to, which nothing would open (RFC 9460). */
const HINTS = new Set(['SVCB', 'HTTPS', 'UNKNOWN_64', 'UNKNOWN_65']);

/**
 * Answers the questions of boxes for names. Whoever asks is known by its address, which nobody else can bear. What a
 * box may not look up is asked of nobody, so that a name cannot carry anything out. Addresses of private networks
 * are taken out of answers; those of a whitelist are open before the answer leaves.
 */
export class Forwarder {
  private readonly busy = new Map<number, number>();
  private total = 0;

  constructor(private readonly parts: ForwarderParts) {}

  /** The answer to a packet; undefined when it gets none. */
  async answer(bytes: Buffer, from: string, transport: 'udp' | 'tcp'): Promise<Buffer | undefined> {
    const address = parseAddress(from);
    const box = address === undefined ? undefined : this.parts.rules.find(address);
    const query = readQuery(bytes);
    if (address === undefined || !box || !query) return undefined;
    if ('rcode' in query) return writeUnreadable(query);
    const mine = this.busy.get(address) ?? 0;
    if (mine >= MOST_OF_BOX || this.total >= MOST_AT_ONCE) return undefined;
    this.busy.set(address, mine + 1);
    this.total++;
    try {
      return writeReply(query, await this.reply(query, address, box), transport);
    } finally {
      this.total--;
      const left = (this.busy.get(address) ?? 1) - 1;
      if (left > 0) this.busy.set(address, left);
      else this.busy.delete(address);
    }
  }

  private async reply(
    query: Query,
    address: number,
    { id, policy }: { id: string; policy: NetworkPolicy },
  ): Promise<Reply> {
    const name = query.name.toLowerCase();
    if (isLocalName(name)) return localReply(query);
    const record = (verdict: Lookup['verdict'], addresses: readonly string[] = []) => {
      // The box may have gone while its question was on its way: nobody would forget what is recorded then.
      if (this.parts.rules.find(address)?.id !== id) return;
      this.parts.record(id, { at: Date.now(), name, type: query.type, verdict, addresses });
    };
    if (!allowsName(policy, name) || isPrivateReverse(name)) {
      record('denied');
      return { rcode: RCODE.noName, why: 'the network policy of this sandbox does not allow this name' };
    }
    const isListed = policy.mode === 'whitelist';
    if (isListed && HINTS.has(query.type)) return { rcode: RCODE.ok };
    const packet = await this.parts.ask(query);
    if (!packet) {
      record('failed');
      return { rcode: RCODE.failed };
    }
    const answers = judged(packet, name, policy, isListed);
    const found = answers.flatMap((one) => (one.type === 'A' ? [one.data] : [])).slice(0, MOST_ADDRESSES);
    const numbers = found.flatMap((text) => parseAddress(text) ?? []);
    if (isListed && numbers.length > 0 && !(await this.open(address, name, numbers))) {
      record('failed');
      return { rcode: RCODE.failed };
    }
    record('allowed', found);
    return { rcode: rcodeOf(packet), answers, authorities: startOfAuthority(packet) };
  }

  private async open(box: number, name: string, addresses: readonly number[]): Promise<boolean> {
    return this.parts.rules.learn(box, name, addresses).catch(() => false);
  }
}

function localReply({ name, type }: Query): Reply {
  const data = type === 'A' ? '127.0.0.1' : type === 'AAAA' ? '::1' : undefined;
  if (data === undefined) return { rcode: RCODE.ok };
  return { rcode: RCODE.ok, answers: [{ name, type: type as 'A' | 'AAAA', ttl: LONGEST_TTL, data }] };
}

/** The records that answer the question, along its aliases, without addresses that are not the box's to reach. */
function judged(packet: DecodedPacket, name: string, policy: NetworkPolicy, isListed: boolean): Answer[] {
  const names = new Set([name]);
  const kept: Answer[] = [];
  let addresses = 0;
  for (const record of packet.answers ?? []) {
    if (record.type === 'OPT' || !names.has(record.name.toLowerCase())) continue;
    if (isListed && HINTS.has(record.type)) continue;
    if (record.type === 'CNAME') names.add(record.data.toLowerCase());
    if (record.type === 'AAAA' && reachOf(record.data) !== 'public') continue;
    if (record.type === 'A' && (!isReachable(record.data, policy) || ++addresses > MOST_ADDRESSES)) continue;
    kept.push({ ...record, ttl: Math.min(record.ttl ?? 0, LONGEST_TTL) });
  }
  return kept;
}

function isReachable(address: string, { allowCidrs }: NetworkPolicy): boolean {
  const reach = reachOf(address);
  if (reach !== 'private') return reach === 'public';
  const block = parseBlock(address);
  return allowCidrs.some((text) => {
    const allowed = parseBlock(text);
    return block !== undefined && allowed !== undefined && overlaps(allowed, block);
  });
}

/** It says how long a name that is not there may be remembered as such. */
function startOfAuthority({ authorities = [] }: DecodedPacket): Answer[] {
  return authorities
    .filter((record) => record.type === 'SOA')
    .map((record) => ({ ...record, ttl: Math.min(record.ttl ?? 0, LONGEST_TTL) }));
}

/** Whether a name asks who is behind an address of a private network, which is nobody's business here. */
function isPrivateReverse(name: string): boolean {
  const octets = /^((?:\d{1,3}\.){1,4})in-addr\.arpa$/.exec(name)?.[1];
  if (octets === undefined) return name.endsWith('.ip6.arpa');
  const parts = octets.slice(0, -1).split('.').reverse();
  while (parts.length < 4) parts.push('0');
  return reachOf(parts.join('.')) !== 'public';
}
