import { timingSafeEqual } from 'node:crypto';
import type { Role } from '../../../src/api/endpoint.ts';
import type { Clock } from '../../../src/kit/time.ts';
import type { Database } from '../../db/open.ts';
import type { Caller } from '../../http/route.ts';
import type { KeyStore, KeyWithRole } from './key-store.ts';
import type { ApiKeyRow } from './tables.ts';

/** Longer texts are no keys of ours and are not hashed. */
const MAX_KEY_LENGTH = 512;
const LOOKUP_BYTES = 8;

interface Entry {
  readonly hash: Buffer;
  readonly caller: Caller;
}

/** The hash of a key and the part of it that finds the row. */
export function digestKey(key: string): { readonly lookup: string; readonly hash: string } {
  const digest = digestOf(key);
  return { lookup: digest.toString('hex', 0, LOOKUP_BYTES), hash: digest.toString('hex') };
}

/**
 * Every live API key in memory, as its hash, so that a request costs one SHA-256 and one look-up. The
 * service tells it of each change after the commit, within the same tick.
 */
export class KeySnapshot {
  private readonly entries = new Map<string, Entry>();
  private readonly lookups = new Map<string, string>();
  private readonly used = new Map<string, { readonly tenant: string; readonly at: number }>();

  constructor(
    private readonly db: Database,
    private readonly store: KeyStore,
    private readonly clock: Clock,
  ) {
    for (const key of store.all()) this.put(key);
  }

  /** The caller that a key stands for; undefined when no live key is that. Notes that it was used. */
  callerOf(key: string): Caller | undefined {
    if (key.length > MAX_KEY_LENGTH) return undefined;
    const digest = digestOf(key);
    const entry = this.entries.get(digest.toString('hex', 0, LOOKUP_BYTES));
    if (!entry || !timingSafeEqual(entry.hash, digest)) return undefined;
    const { actor, tenant } = entry.caller;
    this.used.set(actor, { tenant, at: this.clock.now() });
    return entry.caller;
  }

  /** Takes a key up as it is now. A key of a person who is no member lets nobody in. */
  put({ key, memberRole }: KeyWithRole): void {
    this.remove(key.id);
    const role = roleOf(key, memberRole);
    if (!role) return;
    const { id, tenant, userId, lookup, hash } = key;
    const person = userId === null ? {} : { userId };
    const caller: Caller = Object.freeze({ tenant, role, actor: id, ...person, via: 'api-key' });
    this.entries.set(lookup, { hash: Buffer.from(hash, 'hex'), caller });
    this.lookups.set(id, lookup);
  }

  /** Forgets a key: the next request with it is refused. */
  remove(id: string): void {
    const lookup = this.lookups.get(id);
    if (lookup === undefined) return;
    this.entries.delete(lookup);
    this.lookups.delete(id);
  }

  /** Takes up a person's keys again after the role has changed. */
  refreshUser(tenant: string, userId: string): void {
    for (const key of this.store.ofUser(tenant, userId)) this.put(key);
  }

  /** When a key was used last, in milliseconds; null when never. */
  lastUsedAt(key: ApiKeyRow): number | null {
    return this.used.get(key.id)?.at ?? key.lastUsedAt;
  }

  /** Writes down which keys were used since the last time, in one transaction. */
  flush(): void {
    if (this.used.size === 0) return;
    this.db.transaction(() => {
      for (const [id, { tenant, at }] of this.used) this.store.update(tenant, id, { lastUsedAt: at });
    });
    this.used.clear();
  }
}

function roleOf(key: ApiKeyRow, memberRole: Role | null): Role | undefined {
  if (key.type === 'root') return 'owner';
  return key.type === 'org' ? 'admin' : (memberRole ?? undefined);
}

function digestOf(key: string): Buffer {
  return new Bun.CryptoHasher('sha256').update(key).digest();
}
