import type { Role } from '../../../src/api/endpoint.ts';
import type { Caller } from '../../http/route.ts';
import type { KeyStore } from './key-store.ts';
import type { UserStore } from './user-store.ts';

/** The actor of a browser on this machine that is let in without anybody having signed in. */
export const LOCAL_ACTOR = 'local';

/** What actors may do now, for modules that keep things of theirs for longer than a request. */
export class Standing {
  constructor(
    private readonly users: UserStore,
    private readonly keys: KeyStore,
    private readonly local: () => Caller | undefined,
  ) {}

  /** The role that a user, or an API key that is no person's, has in a tenant now; undefined when none. */
  roleOf(tenant: string, user: string): Role | undefined {
    if (user === LOCAL_ACTOR) {
      const caller = this.local();
      return caller?.actor === LOCAL_ACTOR && caller.tenant === tenant ? caller.role : undefined;
    }
    return this.users.role(tenant, user) ?? ROLE_OF_KEY[this.keys.get(tenant, user)?.key.type ?? 'user'];
  }

  /** The user whom an API key belongs to; any other id is itself. */
  userOf(tenant: string, actor: string): string {
    return this.keys.get(tenant, actor)?.key.userId ?? actor;
  }
}

const ROLE_OF_KEY = { root: 'owner', org: 'admin', user: undefined } as const;
