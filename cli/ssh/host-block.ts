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
