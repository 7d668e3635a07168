/** What somebody came in with. */
export type Credential =
  | { readonly kind: 'token'; readonly id: string; readonly createdBy: string }
  | { readonly kind: 'key'; readonly id: number; readonly user: string };

/** Who is in: a credential and the sandbox that it opened. */
export interface Entry {
  readonly tenant: string;
  readonly sandboxId: string;
  readonly credential: Credential;
}

/** A connection that can be ended. */
export interface OpenConnection {
  readonly entry: Entry;
  /** Ends it at once; the peer is told why where the protocol allows it. */
  close(reason: string): void;
}

/** The connections that are open, so that whoever withdraws something can end what hangs on it. */
export class Connections {
  private readonly open = new Set<OpenConnection>();

  get size(): number {
    return this.open.size;
  }

  /** Whether somebody is in a sandbox. */
  has(sandboxId: string): boolean {
    return [...this.open].some(({ entry }) => entry.sandboxId === sandboxId);
  }

  add(connection: OpenConnection): void {
    this.open.add(connection);
  }

  remove(connection: OpenConnection): void {
    this.open.delete(connection);
  }

  /** Ends every connection whose entry matches. */
  closeWhere(matches: (entry: Entry) => boolean, reason: string): void {
    for (const connection of [...this.open]) if (matches(connection.entry)) connection.close(reason);
  }
}
