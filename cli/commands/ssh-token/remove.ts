import { sandboxSsh } from '../../../src/api/sandbox/ssh.ts';
import { verb } from '../../verb.ts';

/** `svc sandbox ssh-token rm`: ends a token and the connections that came in with it. */
export const remove = verb<[name: string, id: string], object>({
  configure: (command) =>
    command
      .argument('<name>', 'Id or name of a sandbox')
      .argument('<id>', 'Id of a token (see: svc sandbox ssh-token list)'),
  examples: ['svc sandbox ssh-token rm box ssht_01k8...'],
  async run(cli, [sandboxId, tokenId]) {
    const client = await cli.client();
    await client.call(sandboxSsh.RevokeSshToken, { params: { sandboxId, tokenId } });
    cli.terminal.note(`Revoked ${tokenId}.`);
    return undefined;
  },
});
