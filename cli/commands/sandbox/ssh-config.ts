import { homedir } from 'node:os';
import { join } from 'node:path';
import { sandboxSsh } from '../../../src/api/sandbox/ssh.ts';
import { hostBlock } from '../../ssh/host-block.ts';
import { verb } from '../../verb.ts';
import { sshHost } from './ssh.ts';

/** `svc sandbox ssh-config`: a block for ~/.ssh/config, for editors and whatever else speaks SSH. */
export const sshConfig = verb<[name: string], { host?: string; identityFile?: string }>({
  about: 'The block uses a registered key (svc sandbox ssh-key add), so that it stays good.',
  configure: (command) =>
    command
      .argument('<name>', 'Id or name of a sandbox')
      .option('--host <alias>', 'Name of the block; that of the sandbox when absent')
      .option('-i, --identity-file <path>', 'Private key that is registered'),
  examples: ['svc sandbox ssh-config box >> ~/.ssh/config', 'code --remote ssh-remote+box /workspace'],
  async run(cli, [name], { host: alias = name, identityFile }) {
    const client = await cli.client();
    const info = await client.call(sandboxSsh.GetSandboxSSHInfo, { params: { sandboxId: name } });
    const path = identityFile?.replace(/^~\//, `${join(homedir(), '/')}`);
    cli.terminal.out.write(
      hostBlock(sshHost(cli, alias, info, { user: info.user ?? '', identityFile: path })),
    );
    return undefined;
  },
});
