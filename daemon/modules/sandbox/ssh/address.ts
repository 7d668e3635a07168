import type { Config } from '../../../config/config.ts';
import type { ServerState } from './server/index.ts';

/** How people reach the SSH server. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

const WILDCARDS = ['0.0.0.0', '::', ''];

/**
 * The host under which people reach the server: `ssh.public_host`, else the host of `server.public_url`, else the
 * address that is listened on; where that is every address, the one by which the API was called.
 */
export function publicAddress(config: Config, state: ServerState, calledAs: string): Address {
  const listening = state.isUp ? state.host : config.get('ssh.host') || config.get('server.host');
  const port = state.isUp ? state.port : config.get('ssh.port');
  const url = config.get('server.public_url');
  const named = config.get('ssh.public_host') || (URL.canParse(url) ? new URL(url).hostname : '');
  const host = named || (WILDCARDS.includes(listening) ? calledAs : listening);
  return { host: host.replace(/^\[|\]$/g, ''), port };
}

/** The command that connects as a user. */
export function connectionString(user: string, { host, port }: Address): string {
  return `ssh -p ${port} ${user}@${host}`;
}
