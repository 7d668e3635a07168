import { fail } from '../../src/errors/app-error.ts';

/** What OpenSSH has to know to connect. */
export interface SshHost {
  /** The name by which it is called. */
  readonly alias: string;
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly knownHosts: string;
  /** A private key; without one the user name is a token, and no key is offered. */
  readonly identityFile?: string;
}

const SHAPES = {
  host: /^[\w.:%][\w.:%-]*$/,
  user: /^\w[\w.-]*$/,
  hostKey: /^ssh-ed25519 [A-Za-z0-9+/]+=*$/,
} as const;

/**
 * Holds what a daemon has told to the shapes that it can have: it goes into files in which a line of somebody else's
 * would be a command to run. Errors: upstream_failed.
 */
export function checkTold(told: Readonly<Partial<Record<keyof typeof SHAPES, string>>>): void {
  const bad = Object.entries(SHAPES).find(([name, shape]) => {
    const value = told[name as keyof typeof SHAPES];
    return value !== undefined && !shape.test(value);
  });
  if (bad) throw fail('upstream_failed', { message: `The daemon has told an SSH ${bad[0]} that is none.` });
}

/** A block for ssh_config(5). The host key is pinned, so that nothing is asked. */
export function hostBlock({ alias, host, port, user, knownHosts, identityFile }: SshHost): string {
  const lines = [
    `HostName ${host}`,
    `Port ${port}`,
    `User ${user}`,
    `UserKnownHostsFile ${quote(knownHosts)}`,
    'StrictHostKeyChecking yes',
    'HostKeyAlgorithms ssh-ed25519',
    ...(identityFile ? [`IdentityFile ${quote(identityFile)}`] : []),
  ];
  return `Host ${alias}\n${lines.map((line) => `  ${line}\n`).join('')}`;
}

/** A path as ssh_config reads it: in quotes, and without a meaning for its percent signs. */
function quote(path: string): string {
  return `"${path.replaceAll('%', '%%')}"`;
}
