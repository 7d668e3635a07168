import { mkdirSync, readlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Lookup, NetworkPolicy } from '../driver.ts';
import { readText, writeWhole } from '../host/files.ts';
import type { HostLog } from '../host/log.ts';
import { type Block, formatAddress } from './address.ts';
import { Forwarder } from './dns/forwarder.ts';
import { type Listener, listen } from './dns/listener.ts';
import { Lookups } from './dns/lookups.ts';
import { askServers, type NameServer } from './dns/upstream.ts';
import { Rules } from './rules.ts';
import type { RuledBox, RulesetSpec } from './ruleset.ts';

/** What a guard is made with. */
export interface GuardOptions extends Pick<RulesetSpec, 'table' | 'bridge' | 'owned'> {
  /** Remembers the port at which names are asked for, so that it is the same one after a restart. */
  readonly portFile: string;
  /** Who is asked for names that boxes may look up. */
  readonly nameServers: () => readonly NameServer[];
  readonly log: HostLog;
}

/** Where the bridge is and what is around it. */
export interface GuardPlace {
  readonly subnet: Block;
  /** The bridge's address. */
  readonly gateway: number;
  /** Networks that the bridge's host is in. */
  readonly connected: readonly Block[];
  /** A process in whose network the bridge is; this one's when absent. */
  readonly pid?: number;
}

/** What boxes on a bridge reach, and which names they may look up: the rules and the forwarder that go with them. */
export class Guard {
  private readonly rules: Rules;
  private readonly lookups = new Lookups();
  private readonly forwarder: Forwarder;
  private listener: Listener | undefined;
  private listensAt = '';
  private pid: number | undefined;
  private wanted: GuardPlace | undefined;
  private turn: Promise<void> | undefined;
  private last: Promise<void> = Promise.resolve();

  constructor(private readonly options: GuardOptions) {
    this.rules = new Rules(options.table, () => this.enter(), options.log);
    this.forwarder = new Forwarder({
      rules: this.rules,
      ask: askServers(options.nameServers),
      record: (id, lookup) => this.lookups.add(id, lookup),
    });
  }

  /** Takes up a box that has been running, before the rules stand. */
  adopt(id: string, box: RuledBox): void {
    this.rules.adopt(id, box);
  }

  /** How many boxes there are. */
  get size(): number {
    return this.rules.size;
  }

  /** The rules stand and names are answered when this resolves. One look serves all who wait. Errors: HostCommandError. */
  hold(place: GuardPlace): Promise<void> {
    this.wanted = place;
    this.turn ??= this.last
      .catch(() => {})
      .then(() => {
        this.turn = undefined;
        return this.wanted && this.look(this.wanted);
      });
    this.last = this.turn;
    return this.turn;
  }

  /** Lets a box in, or changes what it reaches, also over connections that are open. Errors: HostCommandError. */
  put(id: string, box: RuledBox): Promise<void> {
    return this.rules.put(id, box);
  }

  /** What the box at an address may reach, if there is one. */
  find(address: number): { readonly id: string; readonly policy: NetworkPolicy } | undefined {
    return this.rules.find(address);
  }

  /** Takes the box at an address out. */
  drop(address: number): Promise<void> {
    return this.rules.drop(address);
  }

  /** The names that a box looked up, newest first. */
  lookupsOf(id: string): readonly Lookup[] {
    return this.lookups.list(id);
  }

  /** Forgets the names of a box that is gone for good. */
  forget(id: string): void {
    this.lookups.forget(id);
  }

  /** Stops answering; with `remove` the rules go too. */
  async close(remove: boolean): Promise<void> {
    this.wanted = undefined;
    await this.last.catch(() => {});
    this.listener?.close();
    this.listener = undefined;
    this.listensAt = '';
    if (remove) await this.rules.remove();
    else this.rules.forget();
  }

  private async look(place: GuardPlace): Promise<void> {
    this.pid = place.pid;
    await this.listen(place);
    const { table, bridge, owned } = this.options;
    const { subnet, connected } = place;
    await this.rules.hold({ table, bridge, owned, subnet, connected, dnsPort: this.port() });
  }

  private enter(): readonly string[] {
    return this.pid === undefined ? [] : ['nsenter', `--net=/proc/${this.pid}/ns/net`];
  }

  /** The port at which names are asked for; the one of the last time while nothing listens. */
  port(): number {
    const kept = Number(readText(this.options.portFile));
    return this.listener?.port ?? (kept > 0 && kept < 65_536 ? kept : 1);
  }

  /** Without a listener names are not answered, and nothing else changes: it is tried again at the next look. */
  private async listen({ gateway, pid }: GuardPlace): Promise<void> {
    const hostname = formatAddress(gateway);
    const at = `${hostname} ${networkOf(pid)}`;
    if (this.listener && this.listensAt === at) return;
    this.listener?.close();
    this.listener = undefined;
    try {
      const kept = Number(readText(this.options.portFile)) || 0;
      const answer = this.forwarder.answer.bind(this.forwarder);
      this.listener = await listen({ hostname, port: kept, pid }, answer);
      this.listensAt = at;
      if (this.listener.port !== kept) this.keepPort(this.listener.port);
    } catch (error) {
      this.options.log('error', 'sandboxes cannot look up names', { error: String(error) });
    }
  }

  private keepPort(port: number): void {
    const { portFile } = this.options;
    mkdirSync(dirname(portFile), { recursive: true, mode: 0o700 });
    writeWhole(portFile, String(port));
  }
}

function networkOf(pid: number | undefined): string {
  try {
    return readlinkSync(`/proc/${pid ?? 'self'}/ns/net`);
  } catch {
    return '';
  }
}
