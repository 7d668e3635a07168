import type { Client } from '../src/client/client.ts';
import { type Connection, type ConnectionFlags, resolveConnection } from './context/connection.ts';
import { ContextStore } from './context/contexts.ts';
import type { Env } from './context/paths.ts';
import type { Terminal } from './ui/terminal.ts';

/** Options that every command takes. */
export type GlobalFlags = ConnectionFlags;

/** What a command is handed: where it writes, what it was told, whom it may call. */
export class Cli {
  readonly contexts: ContextStore;

  constructor(
    readonly terminal: Terminal,
    readonly env: Env,
    readonly flags: GlobalFlags,
  ) {
    this.contexts = new ContextStore(env);
  }

  /** The daemon that this call is for. Errors: not_found when the context that is named does not exist. */
  connection(): Connection {
    return resolveConnection(this.flags, this.env, this.contexts);
  }

  /** A client for that daemon. */
  async client(): Promise<Client> {
    const { url, credential } = this.connection();
    return this.clientFor(url, credential);
  }

  /** A client for any daemon. */
  async clientFor(url: string, credential: Connection['credential'] = {}): Promise<Client> {
    const { createClient } = await import('../src/client/client.ts');
    return createClient({ url, ...credential, fetch: patientFetch });
  }
}

/** Bun's fetch gives up after five silent minutes; a large image may take longer. Ctrl-C ends what is too long. */
function patientFetch(url: string, init: RequestInit): Promise<Response> {
  return fetch(url, { ...init, timeout: false });
}
