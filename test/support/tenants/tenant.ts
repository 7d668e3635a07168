import { Wire, type WireHeader, type WireResponse } from '../wire.ts';
import type { Key, Person, TwoTenants } from './two-tenants.ts';

/** A request in few words; the rest is the tenant's. */
export interface Ask {
  readonly method: string;
  readonly target: string;
  readonly body?: object;
  readonly headers?: readonly WireHeader[];
  /** With the session of a browser in place of the key. */
  readonly bySession?: boolean;
}

/** A sandbox as far as others might ask for it. */
export interface Sandbox {
  readonly id: string;
  readonly name: string;
  readonly sessionId: string;
}

/** A tenant with all that it has made and not yet removed. */
export class Tenant {
  readonly keys = new Map<string, { readonly name: string; readonly secret: string }>();
  readonly invitations = new Map<string, string>();
  readonly sandboxes = new Map<string, Sandbox>();
  /** Keys that an answer may come again for, since it bears an idempotency key. */
  readonly repeatable = new Set<string>();
  private readonly wire: Wire;

  private constructor(
    readonly name: string,
    private readonly url: string,
    private readonly owner: Person,
    private readonly key: Key,
    private readonly pageHeaders: readonly WireHeader[],
  ) {
    this.wire = new Wire(url);
  }

  /** The tenant of a person who has signed in as its owner. */
  static async of(tenants: TwoTenants, name: string, owner: Person): Promise<Tenant> {
    const page = tenants.fromPage(owner.session);
    const key = await tenants.key(page, {
      type: 'API_KEY_TYPE_USER',
      userId: owner.userId,
      name: `${name} root`,
    });
    return new Tenant(name, tenants.daemon.url, owner, key, Object.entries(page));
  }

  get id(): string {
    return this.owner.tenant;
  }

  get userId(): string {
    return this.owner.userId;
  }

  ask({ method, target, body, headers = [], bySession }: Ask): Promise<WireResponse> {
    const proof: readonly WireHeader[] = bySession ? this.pageHeaders : [['x-svc-api-key', this.key.key]];
    const type: readonly WireHeader[] = body === undefined ? [] : [['content-type', 'application/json']];
    const all = [['host', new URL(this.url).host] as const, ...proof, ...type, ...headers];
    return this.wire.send({ method, target, headers: all, body: body && JSON.stringify(body) });
  }

  /** As `ask`, for what must work. */
  async read<T>(target: string): Promise<T> {
    const { status, text } = await this.ask({ method: 'GET', target });
    if (status !== 200) throw new Error(`${target} answered ${status}: ${text}`);
    return JSON.parse(text) as T;
  }

  /** The tenant that an API key belongs to; undefined when it is none. */
  async ownerOf(key: string): Promise<string | undefined> {
    const headers = [['host', new URL(this.url).host] as const, ['x-svc-api-key', key] as const];
    const { text } = await this.wire.send({ method: 'GET', target: '/v1/auth/session', headers });
    const { user } = JSON.parse(text) as { user?: { organizations: Array<{ id: string }> } };
    return user?.organizations[0]?.id;
  }

  /** Every text that only this tenant may see. */
  secrets(): string[] {
    return [
      this.id,
      this.userId,
      this.key.id,
      this.key.key,
      this.owner.session,
      `made by ${this.name}`,
      ...this.keys.keys(),
      ...[...this.keys.values()].map(({ secret }) => secret),
      ...this.invitations.keys(),
      ...[...this.sandboxes.values()].flatMap(({ id, sessionId }) => [id, sessionId]).filter(isRandom),
    ];
  }

  /** Removes what it has made, as far as it can be removed. */
  async clear(): Promise<void> {
    for (const id of this.keys.keys()) await this.ask({ method: 'DELETE', target: `/v1/api-key/${id}` });
    for (const id of this.invitations.keys())
      await this.ask({ method: 'DELETE', target: `/v1/auth/invite/${id}` });
    this.keys.clear();
    this.invitations.clear();
    this.repeatable.clear();
    this.sandboxes.clear();
  }

  close(): void {
    this.wire.close();
  }
}

/** Whether an id was made by the instance: both tenants may choose the same one themselves. */
function isRandom(id: string): boolean {
  return /^[a-z]{3}_/.test(id);
}
