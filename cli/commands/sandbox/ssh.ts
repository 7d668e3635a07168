import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Output } from '../../../src/api/endpoint.ts';
import { sandboxSsh } from '../../../src/api/sandbox/ssh.ts';
import { fail } from '../../../src/errors/app-error.ts';
import { MINUTE_MS } from '../../../src/kit/time.ts';
import { duration } from '../../args.ts';
import type { Cli } from '../../cli.ts';
import { shellLine } from '../../quote.ts';
import { checkTold, hostBlock, type SshHost } from '../../ssh/host-block.ts';
import { rememberHostKey } from '../../ssh/known-hosts.ts';
import { verb } from '../../verb.ts';

interface Options {
  identityFile?: string;
  expires: number;
  dryRun?: true;
}

/** Long enough to connect: whoever is in stays in. */
const LOGIN_MS = 5 * MINUTE_MS;

/** `svc sandbox ssh`: the system's ssh, with a token made for it and the host key pinned. */
export const ssh = verb<[name: string, args: string[]], Options>({
  about:
    'Runs the ssh of this machine with a temporary token, or with a registered key when --identity-file is given. What follows -- is for ssh: its options and the command. Without SSH: svc sandbox shell.',
  configure: (command) =>
    command
      .argument('<name>', 'Id or name of a sandbox')
      .argument('[args...]', 'Options and command for ssh, after --')
      .option('-i, --identity-file <path>', 'Private key to use in place of a token')
      .option('--expires <duration>', 'How long the token can be used to log in', duration, LOGIN_MS)
      .option('--dry-run', 'Print the ssh command line, with its token, and run nothing'),
  examples: [
    'svc sandbox ssh box',
    'svc sandbox ssh box -- make test',
    'svc sandbox ssh box -- -N -L 8080:localhost:3000',
    'svc sandbox ssh box --identity-file ~/.ssh/id_ed25519',
  ],
  async run(cli, [name, args], { identityFile, expires, dryRun }) {
    const client = await cli.client();
    const params = { sandboxId: name };
    const info = await client.call(sandboxSsh.GetSandboxSSHInfo, { params });
    const body = { expiresInMinutes: Math.max(Math.ceil(expires / MINUTE_MS), 1) };
    const user = identityFile
      ? (info.user ?? '')
      : (await client.call(sandboxSsh.CreateSshToken, { params, body })).token;
    const host = sshHost(cli, name, info, { user, identityFile: identityFile && resolve(identityFile) });
    if (!dryRun) return runSsh(host, args);
    cli.terminal.print(shellLine(['ssh', ...asOptions(host), ...args]));
    return undefined;
  },
});

/** How to reach a sandbox; its host key is remembered. Errors: failed_precondition when SSH is not there. */
export function sshHost(
  cli: Cli,
  alias: string,
  info: Output<typeof sandboxSsh.GetSandboxSSHInfo>,
  who: Pick<SshHost, 'user' | 'identityFile'>,
): SshHost {
  const { enabled, message, host = '', port = 0, hostKey = '' } = info;
  if (!enabled) throw fail('failed_precondition', { message: message ?? '' });
  checkTold({ host, hostKey, user: who.user });
  return { alias, host, port, ...who, knownHosts: rememberHostKey(cli.env, host, port, hostKey) };
}

/** Runs ssh with a configuration of its own: a token in its arguments could be seen by everybody here. */
async function runSsh(host: SshHost, args: readonly string[]): Promise<number> {
  const program = Bun.which('ssh');
  if (!program) {
    throw fail('failed_precondition', {
      message: 'There is no ssh on this machine. Install openssh-client, or use: svc sandbox shell',
    });
  }
  const dir = mkdtempSync(join(tmpdir(), 'svc-ssh-'));
  const stay = () => undefined;
  process.on('SIGINT', stay);
  try {
    const config = join(dir, 'config');
    const offers = host.identityFile ? 'IdentitiesOnly yes' : 'PubkeyAuthentication no';
    writeFileSync(config, `${hostBlock(host)}  ${offers}\n`, { mode: 0o600 });
    const stdio = ['inherit', 'inherit', 'inherit'] as const;
    return await Bun.spawn([program, '-F', config, host.alias, ...args], { stdio: [...stdio] }).exited;
  } finally {
    process.off('SIGINT', stay);
    rmSync(dir, { recursive: true, force: true });
  }
}

function asOptions({ host, port, user, knownHosts, identityFile }: SshHost): string[] {
  const key = identityFile ? ['-i', identityFile] : [];
  return ['-p', String(port), '-o', `UserKnownHostsFile=${knownHosts}`, ...key, `${user}@${host}`];
}
