import { apiKeys } from '../../../src/api/api-keys/keys.ts';
import { verb } from '../../verb.ts';

/** `svc key revoke`: ends a key for good. */
export const revoke = verb<[id: string], object>({
  configure: (command) => command.argument('<id>', 'Id of a key (see: svc key list)'),
  examples: ['svc key revoke key_01k8...'],
  async run(cli, [id]) {
    const client = await cli.client();
    await client.call(apiKeys.DeleteApiKey, { params: { id } });
    cli.terminal.note(`Revoked ${id}.`);
    return undefined;
  },
});
