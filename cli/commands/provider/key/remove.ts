import { providerKeys } from '../../../../src/api/providers/keys.ts';
import { verb } from '../../../verb.ts';
import { forEach } from '../../sandbox/each.ts';

/** `svc provider key remove`. */
export const remove = verb<[ids: string[]], object>({
  configure: (command) => command.argument('<keys...>', 'Ids of keys (see: svc provider key list)'),
  examples: ['svc provider key remove pky_01k8...'],
  async run(cli, [ids]) {
    const client = await cli.client();
    return forEach(cli, ids, 'Removing', (keyId) =>
      client.call(providerKeys.DeleteProviderAPIKey, { params: { keyId } }),
    );
  },
});
