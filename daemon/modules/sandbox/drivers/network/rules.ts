import type { NetworkPolicy } from '../driver.ts';
import type { HostLog } from '../host/log.ts';
import { parseAddress } from './address.ts';
import { allowsName } from './host-names.ts';
import { nft } from './nft.ts';
import { isSamePolicy } from './policy.ts';
import {
  boxLines,
  forgottenLines,
  goneLines,
  LEARNT_SECONDS,
  type LearntAddress,
  learntLines,
  MAX_LEARNT_OF_BOX,
  type RuledBox,
  type RulesetSpec,
  ruleset,
} from './ruleset.ts';

interface Learnt {
  readonly names: Set<string>;
  /** By the clock that never jumps. */
  until: number;
}

/** A box with the addresses that names have opened for it. */
interface Ruled extends RuledBox {
  readonly id: string;
  readonly learnt: Map<number, Learnt>;
}

/**
 * The rules of an instance in the kernel, and what they should be. Each change is one transaction; changes that come
 * while one is on its way go together in the next. When one fails (somebody has wiped the tables out), all rules are
 * put up again as they should be.
 */
export class Rules {
  private readonly boxes = new Map<number, Ruled>();
  private base: RulesetSpec | undefined;
  private applied = '';
  private pending = '';
  private turn: Promise<void> | undefined;
  private last: Promise<void> = Promise.resolve();

  constructor(
    private readonly table: string,
    /** The words before a program that bring it to where the rules are; none when that is here. */
    private readonly enter: () => readonly string[],
    private readonly log: HostLog,
  ) {}

  /** Takes up a box that has been running, before the rules stand. */
  adopt(id: string, box: RuledBox): void {
    this.boxes.set(box.address, { ...box, id, learnt: new Map() });
  }

  /** The box at an address. */
  find(address: number): { readonly id: string; readonly policy: NetworkPolicy } | undefined {
    return this.boxes.get(address);
  }

  get size(): number {
    return this.boxes.size;
  }

  /** Lets a box in, or changes what it reaches. It holds when this resolves. Errors: HostCommandError. */
  async put(id: string, box: RuledBox): Promise<void> {
    const before = this.boxes.get(box.address);
    const isSameCable = before?.port === box.port;
    const kept = isSameCable ? stillAllowed(before, box.policy) : new Map<number, Learnt>();
    const after: Ruled = { ...box, id, learnt: kept };
    this.boxes.set(box.address, after);
    if (before && isSameCable && isSamePolicy(before.policy, box.policy)) return;
    const gone = before ? goneLines(this.table, before, entries(before.learnt)) : '';
    await this.change(gone + boxLines(this.table, after, entries(kept)));
  }

  /** Takes a box out. One that is not there is fine. */
  async drop(address: number): Promise<void> {
    const box = this.boxes.get(address);
    if (!box) return;
    this.boxes.delete(address);
    await this.change(goneLines(this.table, box, entries(box.learnt)));
  }

  /** Opens what a name led to, where a whitelist does not have it open. False when the box may not, or has too much open. Errors: HostCommandError. */
  async learn(box: number, name: string, addresses: readonly number[]): Promise<boolean> {
    const ruled = this.boxes.get(box);
    if (!ruled || !allowsName(ruled.policy, name)) return false;
    if (ruled.policy.mode !== 'whitelist') return true;
    const now = performance.now();
    for (const [address, { until }] of ruled.learnt) if (until < now) ruled.learnt.delete(address);
    const fresh = addresses.filter((address) => !isFresh(ruled.learnt.get(address), name, now));
    if (fresh.length === 0) return true;
    if (ruled.learnt.size + fresh.length > MAX_LEARNT_OF_BOX) return false;
    const until = now + LEARNT_SECONDS * 1000;
    const known = fresh.filter((address) => ruled.learnt.has(address));
    for (const address of fresh) {
      const names = ruled.learnt.get(address)?.names ?? new Set();
      ruled.learnt.set(address, { names: names.add(name), until });
    }
    const openings = fresh.map((address) => ({ address, name, expiresMs: LEARNT_SECONDS * 1000 }));
    // Only taken out and put in again does an entry live longer; that costs more than putting in a new one.
    const renewed = openings.filter(({ address }) => known.includes(address));
    await this.change(forgottenLines(this.table, box, renewed) + learntLines(this.table, box, openings));
    return true;
  }

  /** The rules stand, for this network, when it resolves. Errors: HostCommandError. */
  async hold(spec: RulesetSpec): Promise<void> {
    const text = ruleset(spec);
    const isFirst = this.base === undefined;
    const isSame = text === this.applied;
    this.base = spec;
    if (isFirst) await this.recall();
    else if (isSame && (await this.stand())) return;
    else this.log('warn', 'sandbox network rules are put up again', { table: this.table });
    this.applied = '';
    await this.change('');
  }

  /** Takes the tables away. */
  async remove(): Promise<void> {
    this.forget();
    await this.last.catch(() => {});
    const text = ['inet', 'bridge'].map(
      (family) => `table ${family} ${this.table} {}\ndelete table ${family} ${this.table}\n`,
    );
    await nft(this.enter(), text.join('')).catch(() => {});
  }

  /** Lets go of what is known; the rules stay. */
  forget(): void {
    this.base = undefined;
    this.applied = '';
    this.boxes.clear();
  }

  private change(lines: string): Promise<void> {
    if (!this.base) return Promise.resolve();
    this.pending += lines;
    this.turn ??= this.last
      .catch(() => {})
      .then(() => {
        const text = this.pending;
        this.pending = '';
        this.turn = undefined;
        return this.apply(text);
      });
    this.last = this.turn;
    return this.turn;
  }

  private async apply(lines: string): Promise<void> {
    if (!this.base) return;
    if (this.applied !== '') {
      const isDone = await nft(this.enter(), lines).then(
        () => true,
        () => false,
      );
      if (isDone) return;
      this.log('warn', 'sandbox network rules are put up again', { table: this.table });
    }
    const text = ruleset(this.base);
    const boxes = [...this.boxes.values()].map((box) => boxLines(this.table, box, entries(box.learnt)));
    await nft(this.enter(), text + boxes.join(''));
    this.applied = text;
  }

  private list(options: readonly string[], what: string): Promise<string> {
    return nft(this.enter(), `list ${what}`, options).catch(() => '');
  }

  /** Whether both tables have their rules. */
  private async stand(): Promise<boolean> {
    const chains = [
      ['inet', 'out', 'goto refuse'],
      ['inet', 'forward', 'goto out'],
      ['bridge', 'prerouting', '@ports'],
    ] as const;
    const found = await Promise.all(
      chains.map(async ([family, chain, words]) =>
        (await this.list([], `chain ${family} ${this.table} ${chain}`)).includes(words),
      ),
    );
    return found.every(Boolean);
  }

  /** Takes over the addresses that names opened under an earlier daemon, so that connections to them go on. */
  private async recall(): Promise<void> {
    const text = await this.list(['-j'], `set inet ${this.table} learnt`);
    for (const { box, address, name, seconds } of readLearnt(text)) {
      const ruled = this.boxes.get(box);
      if (ruled?.policy.mode !== 'whitelist' || !allowsName(ruled.policy, name)) continue;
      ruled.learnt.set(address, { names: new Set([name]), until: performance.now() + seconds * 1000 });
    }
  }
}

/** An entry that lives for more than half of its time needs no transaction to live longer. */
function isFresh(learnt: Learnt | undefined, name: string, now: number): boolean {
  return learnt?.names.has(name) === true && learnt.until - now > (LEARNT_SECONDS * 1000) / 2;
}

/** What names that are allowed now have opened. */
function stillAllowed(box: Ruled, policy: NetworkPolicy): Map<number, Learnt> {
  const kept = new Map<number, Learnt>();
  for (const [address, { names, until }] of box.learnt) {
    const left = new Set(
      [...names].filter((name) => policy.mode === 'whitelist' && allowsName(policy, name)),
    );
    if (left.size > 0) kept.set(address, { names: left, until });
  }
  return kept;
}

function entries(learnt: ReadonlyMap<number, Learnt>): LearntAddress[] {
  const now = performance.now();
  return [...learnt].map(([address, { names, until }]) => ({
    address,
    name: [...names][0] ?? '',
    expiresMs: until - now,
  }));
}

interface ListedElement {
  readonly elem?: {
    readonly val?: { readonly concat?: readonly string[] };
    readonly expires?: number;
    readonly comment?: string;
  };
}

/** Reads `nft -j list set`; entries that a packet made have no name and are left out. */
function readLearnt(text: string): Array<{ box: number; address: number; name: string; seconds: number }> {
  if (text === '') return [];
  const { nftables } = JSON.parse(text) as { nftables: ReadonlyArray<{ set?: { elem?: ListedElement[] } }> };
  return nftables
    .flatMap(({ set }) => set?.elem ?? [])
    .flatMap(({ elem }) => {
      const [box, address] = (elem?.val?.concat ?? []).map(parseAddress);
      const { comment: name, expires: seconds } = elem ?? {};
      if (box === undefined || address === undefined || !name || !seconds) return [];
      return [{ box, address, name, seconds }];
    });
}
