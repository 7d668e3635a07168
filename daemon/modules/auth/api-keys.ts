import { fail, invalid } from '../../../src/errors/app-error.ts';
import { newId } from '../../../src/kit/id.ts';
import type { App } from '../../app.ts';
import type { Caller } from '../../http/route.ts';
import { ownTenant } from '../../http/tenant.ts';
import { readName } from './inputs.ts';
import { digestKey, type KeySnapshot } from './key-snapshot.ts';
import type { KeyStore } from './key-store.ts';
import { fromWireType, maskedKey } from './key-wire.ts';
import { atLeast, requireRole } from './roles.ts';
import { newKey, replaceKeptRootKey } from './root-key.ts';
import type { ApiKeyRow } from './tables.ts';
import type { UserStore } from './user-store.ts';

/** What is said about a key; all of it is optional. */
export interface KeyInput {
  readonly name?: string;
  readonly userId?: string;
  readonly orgId?: string;
  readonly type?: string;
}

/** A key with its secret, which is never seen again. */
export interface MadeKey {
  readonly row: ApiKeyRow;
  readonly secret: string;
}

/**
 * API keys. A key of the team acts as an admin and is an admin's to make; a key of a person has that
 * person's role and is made by the person or an admin. Nobody makes or renews a key that may do more
 * than they may themselves.
 */
export class ApiKeys {
  constructor(
    private readonly app: App,
    private readonly store: KeyStore,
    private readonly users: UserStore,
    private readonly snapshot: KeySnapshot,
  ) {}

  /** Errors: not_found (another organization, no such member), forbidden, invalid_argument. */
  create(caller: Caller, input: KeyInput): MadeKey {
    ownTenant(caller, input.orgId);
    const holder = this.holder(caller, fromWireType(input.type), input.userId || undefined);
    const secret = newKey();
    const createdAt = this.app.clock.now();
    const row: ApiKeyRow = {
      id: newId('key', createdAt),
      tenant: caller.tenant,
      name: readName(input.name, 'API key'),
      ...holder,
      ...digestKey(secret),
      masked: maskedKey(secret),
      lastUsedAt: null,
      createdAt,
      updatedAt: createdAt,
    };
    this.change(caller, 'api_key.create', row, () => this.store.insert(row));
    return { row, secret };
  }

  /** The keys that the caller may see: an admin every one, others their own. */
  list(caller: Caller, input: KeyInput): ApiKeyRow[] {
    ownTenant(caller, input.orgId);
    const type = fromWireType(input.type);
    const userId = input.userId || undefined;
    return this.store
      .list(caller.tenant, { userId })
      .filter((row) => mayHandle(caller, row))
      .filter((row) => type === undefined || (row.type === 'user') === (type === 'user'));
  }

  /** Errors: not_found. */
  get(caller: Caller, id: string): ApiKeyRow {
    const found = this.store.get(caller.tenant, id)?.key;
    if (!found || !mayHandle(caller, found)) throw fail('not_found', { what: 'API key', id });
    return found;
  }

  /** Changes what was named. Errors: not_found, forbidden, invalid_argument. */
  update(caller: Caller, id: string, input: KeyInput): ApiKeyRow {
    const row = this.outranked(caller, id);
    ownTenant(caller, input.orgId);
    const type = fromWireType(input.type);
    const movesHolder = type !== undefined || Boolean(input.userId);
    if (movesHolder && row.type === 'root')
      throw invalid({ field: 'type', description: 'of the root key cannot change' });
    const holder = movesHolder
      ? this.holder(
          caller,
          type ?? (row.type === 'org' ? 'org' : 'user'),
          input.userId || row.userId || undefined,
        )
      : {};
    const change = { name: readName(input.name, row.name), ...holder, updatedAt: this.app.clock.now() };
    this.change(caller, 'api_key.update', { ...row, ...change }, () =>
      this.store.update(caller.tenant, id, change),
    );
    return { ...row, ...change };
  }

  /** Gives a key a new secret; the old one ends at once. Errors: not_found, forbidden. */
  regenerate(caller: Caller, id: string): MadeKey {
    const row = this.outranked(caller, id);
    const secret = newKey();
    const change = { ...digestKey(secret), masked: maskedKey(secret), updatedAt: this.app.clock.now() };
    this.change(caller, 'api_key.regenerate', row, () => this.store.update(caller.tenant, id, change));
    if (row.type === 'root') replaceKeptRootKey(this.app.config, secret);
    return { row: { ...row, ...change }, secret };
  }

  /** Revokes a key at once. Errors: not_found, forbidden. */
  delete(caller: Caller, id: string): void {
    const row = this.outranked(caller, id);
    this.change(caller, 'api_key.delete', row, () => this.store.delete(caller.tenant, id));
  }

  /** Takes the keys of a person with them; inside the transaction that removes the person. Returns their ids. */
  deleteOfUser(tenant: string, userId: string): string[] {
    const ids = this.store.ofUser(tenant, userId).map(({ key }) => key.id);
    for (const id of ids) this.store.delete(tenant, id);
    return ids;
  }

  private change(caller: Caller, action: string, { id, name, type }: ApiKeyRow, work: () => void): void {
    const { tenant, actor } = caller;
    this.app.db.transaction(() => {
      work();
      this.app.audit.record({ tenant, actor, action, target: id, details: { name, type } });
    });
    const current = this.store.get(tenant, id);
    if (current) this.snapshot.put(current);
    else this.snapshot.remove(id);
  }

  /** Whose key it is to be, when the caller may say so. */
  private holder(
    caller: Caller,
    type: 'org' | 'user' | undefined,
    userId: string | undefined,
  ): Pick<ApiKeyRow, 'type' | 'userId'> {
    const forTeam = type === 'org' || (type === undefined && !userId && atLeast(caller.role, 'admin'));
    if (forTeam) {
      requireRole(caller, 'admin');
      if (userId) throw invalid({ field: 'userId', description: 'a key of the team has no user' });
      return { type: 'org', userId: null };
    }
    return { type: 'user', userId: this.person(caller, userId ?? caller.userId) };
  }

  private person(caller: Caller, userId: string | undefined): string {
    if (!userId) throw invalid({ field: 'userId', description: 'is required for a key of a person' });
    if (userId !== caller.userId) requireRole(caller, 'admin');
    const role = this.users.role(caller.tenant, userId);
    if (!role) throw fail('not_found', { what: 'member', id: userId });
    requireRole(caller, role);
    return userId;
  }

  /** A key that may do no more than the caller. */
  private outranked(caller: Caller, id: string): ApiKeyRow {
    const row = this.get(caller, id);
    if (row.type === 'root') requireRole(caller, 'owner');
    if (row.userId !== null) requireRole(caller, this.users.role(caller.tenant, row.userId) ?? 'admin');
    return row;
  }
}

/** An admin handles every key of the tenant, others the keys that are their own. */
function mayHandle(caller: Caller, row: ApiKeyRow): boolean {
  return atLeast(caller.role, 'admin') || (row.userId !== null && row.userId === caller.userId);
}
