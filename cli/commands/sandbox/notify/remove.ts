import { lifecycleWebhooks } from '../../../../src/api/sandbox/lifecycle-webhooks.ts';
import { verb } from '../../../verb.ts';
import { forEach } from '../each.ts';

/** `svc sandbox notify rm`. */
export const remove = verb<[ids: string[]], object>({
  configure: (command) => command.argument('<ids...>', 'Ids of addresses (see: svc sandbox notify list)'),
  examples: ['svc sandbox notify rm whk_01k8...'],
  async run(cli, [ids]) {
    const client = await cli.client();
    return forEach(cli, ids, 'Removing', (id) =>
      client.call(lifecycleWebhooks.DeleteWebhookEndpoint, { params: { id } }),
    );
  },
});
