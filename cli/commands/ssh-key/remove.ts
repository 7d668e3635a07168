import { sandboxSsh } from '../../../src/api/sandbox/ssh.ts';
import { verb } from '../../verb.ts';

/** `svc sandbox ssh-key rm`: forgets a public key and ends the connections that came in with it. */
export const remove = verb<[id: string], object>({
  configure: (command) => command.argument('<id>', 'Id of a key (see: svc sandbox ssh-key list)'),
  examples: ['svc sandbox ssh-key rm 3'],
  async run(cli, [keyId]) {
    const client = await cli.client();
    await client.call(sandboxSsh.DeleteSSHKey, { params: { keyId } });
    cli.terminal.note(`Removed ${keyId}.`);
    return undefined;
  },
});
