import { lifecycleWebhooks } from '../../../../src/api/sandbox/lifecycle-webhooks.ts';
import { showJson } from '../../../ui/show.ts';
import { verb } from '../../../verb.ts';

/** `svc sandbox notify replay`: sends a delivery once more, under its own id. */
export const replay = verb<[id: string, delivery: string], { json?: true }>({
  configure: (command) =>
    command
      .argument('<id>', 'Id of an address (see: svc sandbox notify list)')
      .argument('<delivery>', 'Id of a delivery (see: svc sandbox notify deliveries)')
      .option('--json', 'Print JSON'),
  examples: ['svc sandbox notify replay whk_01k8... del_01k8...'],
  async run(cli, [id, deliveryId], { json }) {
    const client = await cli.client();
    const { delivery } = await client.call(lifecycleWebhooks.ReplayWebhookDelivery, {
      params: { id, deliveryId },
    });
    if (json) showJson(cli, delivery);
    else
      cli.terminal.note(`${deliveryId} is on its way. See how it went: svc sandbox notify deliveries ${id}`);
    return undefined;
  },
});
