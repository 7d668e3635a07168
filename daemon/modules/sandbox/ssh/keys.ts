import { fail, invalid } from '../../../../src/errors/app-error.ts';
import type { App } from '../../../app.ts';
import type { Caller } from '../../../http/route.ts';
import type { Connections } from './connections.ts';
import { atLeast, type People, userOf } from './people.ts';
import { readPublicKey } from './public-key.ts';
import type { SshStore } from './store.ts';
import type { SshKeyRow } from './tables.ts';

const MOST_KEYS = 100;
const MOST_NAME = 100;

/** What is said about a key that is added. */
export interface NewKey {
  readonly userId?: string;
  readonly name?: string;
  readonly publicKey?: string;
}

/** The public keys of people. A key counts in the tenant that it was added in; a person's keys are the person's and an admin's to change. */
export class SshKeys {
  constructor(
    private readonly app: App,
    private readonly store: SshStore,
    private readonly people: People,
    private readonly connections: Connections,
  ) {}

  /** The keys of the caller, or of a member for an admin. Errors: forbidden, not_found. */
  list(caller: Caller, userId?: string): SshKeyRow[] {
    return this.store.keysOf(caller.tenant, this.holder(caller, userId));
  }

  /** Errors: invalid_argument, already_exists, forbidden, not_found (no such member), resource_exhausted. */
  async add(caller: Caller, { userId, name, publicKey }: NewKey): Promise<SshKeyRow> {
    const user = this.holder(caller, userId);
    const key = await readPublicKey(publicKey);
    const { tenant, actor } = caller;
    const row = {
      tenant,
      userId: user,
      name: readName(name, key.comment || key.type),
      keyType: key.type,
      fingerprint: key.fingerprint,
      createdAt: this.app.clock.now(),
      lastUsedAt: null,
    };
    return this.app.db.transaction(() => {
      if (this.store.hasKey(tenant, key.fingerprint))
        throw fail('already_exists', { what: 'SSH key', id: key.fingerprint });
      if (this.store.countKeys(tenant, user) >= MOST_KEYS)
        throw fail('resource_exhausted', {
          message: `There are ${MOST_KEYS} SSH keys already. Remove one first.`,
        });
      const added = this.store.insertKey(row);
      const details = { user, fingerprint: key.fingerprint };
      this.app.audit.record({ tenant, actor, action: 'ssh_key.add', target: String(added.id), details });
      return added;
    });
  }

  /** Removes a key and ends the connections that came in with it. Errors: not_found. */
  remove(caller: Caller, id: number): void {
    const { tenant, actor } = caller;
    this.app.db.transaction(() => {
      const row = this.store.key(tenant, id);
      if (!row || (row.userId !== userOf(caller) && !atLeast(caller.role, 'admin')))
        throw fail('not_found', { what: 'SSH key', id: String(id) });
      this.store.deleteKey(tenant, id);
      const details = { user: row.userId, fingerprint: row.fingerprint };
      this.app.audit.record({ tenant, actor, action: 'ssh_key.remove', target: String(id), details });
    });
    this.connections.closeWhere(
      ({ credential }) => credential.kind === 'key' && credential.id === id,
      'the key was removed',
    );
  }

  private holder(caller: Caller, userId: string | undefined): string {
    const own = userOf(caller);
    if (!userId || userId === own) return own;
    if (!atLeast(caller.role, 'admin')) throw fail('forbidden', { need: 'admin' });
    if (!this.people.roleOf(caller.tenant, userId)) throw fail('not_found', { what: 'member', id: userId });
    return userId;
  }
}

function readName(name: string | undefined, other: string): string {
  const text = (name ?? '').trim() || other;
  const printable = [...text].every((char) => char >= ' ' && char !== '\x7f');
  if (text.length > MOST_NAME || !printable)
    throw invalid({ field: 'name', description: `must be at most ${MOST_NAME} printable characters` });
  return text;
}
