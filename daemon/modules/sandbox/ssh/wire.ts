import type { Output } from '../../../../src/api/endpoint.ts';
import type { sandboxSsh } from '../../../../src/api/sandbox/ssh.ts';
import { MINUTE_MS, rfc3339 } from '../../../../src/kit/time.ts';
import type { Sandbox } from '../tables.ts';
import { type Address, connectionString } from './address.ts';
import type { ServerState } from './server/index.ts';
import type { SshKeyRow, SshTokenRow } from './tables.ts';

type Info = Output<typeof sandboxSsh.GetSandboxSSHInfo>;
type TokenRecord = Output<typeof sandboxSsh.ListSshTokens>['tokens'][number];
type Key = NonNullable<Output<typeof sandboxSsh.ListSSHKeys>['keys']>[number];

/** Where and how to connect, and what is in the way if anything is. */
export function toInfo({ id, name, config }: Sandbox, state: ServerState, address: Address): Info {
  const off = config.sshEnabled ? undefined : `SSH is off for the sandbox ${name || id}.`;
  const down = state.isUp ? undefined : `The SSH server of this instance does not listen: ${state.reason}.`;
  return {
    enabled: off === undefined && down === undefined,
    ...address,
    user: id,
    connectionString: connectionString(id, address),
    hostFingerprint: state.key?.fingerprint ?? '',
    hostKey: state.key?.publicLine ?? '',
    message: [off, down].filter((text) => text !== undefined).join(' '),
  };
}

/** A token without its secret. */
export function toToken(row: SshTokenRow, connect: string): TokenRecord {
  return {
    id: row.id,
    expiresAt: rfc3339(row.expiresAt),
    expiresInMinutes: Math.round((row.expiresAt - row.createdAt) / MINUTE_MS),
    connectionString: connect,
  };
}

/** A public key. */
export function toKey(row: SshKeyRow): Key {
  return {
    id: String(row.id),
    userId: row.userId,
    name: row.name,
    fingerprint: row.fingerprint,
    keyType: row.keyType,
    lastUsedAt: rfc3339(row.lastUsedAt),
    createdAt: rfc3339(row.createdAt),
  };
}
