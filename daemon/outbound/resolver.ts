import { lookup } from 'node:dns/promises';
import { SECOND_MS } from '../../src/kit/time.ts';
import { parseAddress, type Reach, reachOf } from './address.ts';

/** Asks for every address of a name. Throws when there is none. */
export type Lookup = (name: string) => Promise<readonly string[]>;

/** An address with what it may be used for. */
export interface Answer {
  readonly address: string;
  readonly reach: Reach;
}

/** Finds the addresses of a host, best first, each already judged. */
export interface Resolver {
  resolve(host: string): Promise<readonly Answer[]>;
  /** The same without waiting, when it is remembered. */
  known(host: string): readonly Answer[] | undefined;
  /** An address answered: it comes first until the entry expires. */
  prefer(host: string, address: string): void;
}

const TTL_MS = 30 * SECOND_MS;
const DEADLINE_MS = 10 * SECOND_MS;
const MAX_NAMES = 1024;

interface Entry {
  readonly expires: number;
  answers: Promise<readonly Answer[]>;
  settled?: readonly Answer[];
}

/** The resolver of this machine: files, DNS, in the order that the system prefers. */
export const systemLookup: Lookup = async (name) =>
  (await lookup(name, { all: true, order: 'verbatim' })).map(({ address }) => address);

/**
 * Makes a resolver that remembers for 30 seconds. Remembering is safe, because calls go to the judged addresses
 * themselves. Failures are not remembered.
 */
export function createResolver(ask: Lookup, now: () => number): Resolver {
  const entries = new Map<string, Entry>();
  return {
    resolve(host) {
      const known = entries.get(host);
      if (known && known.expires > now()) return known.answers;
      const entry: Entry = { expires: now() + TTL_MS, answers: judge(ask, host) };
      remember(entries, host, entry);
      settle(entry).catch(() => entries.get(host) === entry && entries.delete(host));
      return entry.answers;
    },
    known(host) {
      const entry = entries.get(host);
      return entry && entry.expires > now() ? entry.settled : undefined;
    },
    prefer(host, address) {
      const entry = entries.get(host);
      if (!entry) return;
      entry.answers = entry.answers.then((answers) => putFirst(answers, address));
      void settle(entry);
    },
  };
}

async function settle(entry: Entry): Promise<void> {
  entry.settled = await entry.answers;
}

async function judge(ask: Lookup, host: string): Promise<readonly Answer[]> {
  const addresses = parseAddress(host) ? [host] : await inTime(ask(host));
  if (addresses.length === 0) throw new Error('no address');
  return [...new Set(addresses)].map((address) => ({ address, reach: reachOf(address) }));
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: Timer | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), DEADLINE_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

function remember(entries: Map<string, Entry>, host: string, entry: Entry): void {
  entries.delete(host);
  entries.set(host, entry);
  const oldest = entries.keys().next();
  if (entries.size > MAX_NAMES && !oldest.done) entries.delete(oldest.value);
}

function putFirst(answers: readonly Answer[], address: string): readonly Answer[] {
  const first = answers.find((answer) => answer.address === address);
  return first ? [first, ...answers.filter((answer) => answer !== first)] : answers;
}
