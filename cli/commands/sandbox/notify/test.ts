import { lifecycleWebhooks } from '../../../../src/api/sandbox/lifecycle-webhooks.ts';
import { withSpinner } from '../../../ui/progress.ts';
import { showJson } from '../../../ui/show.ts';
import { verb } from '../../../verb.ts';
import { showDeliveries } from './deliveries.ts';

/** `svc sandbox notify test`: ends with 1 when the address did not take the event. */
export const test = verb<[id: string], { json?: true }>({
  configure: (command) =>
    command
      .argument('<id>', 'Id of an address (see: svc sandbox notify list)')
      .option('--json', 'Print JSON'),
  examples: ['svc sandbox notify test whk_01k8...'],
  async run(cli, [id], { json }) {
    const client = await cli.client();
    const { delivery } = await withSpinner(cli.terminal, 'Sending a test event', () =>
      client.call(lifecycleWebhooks.TestWebhookEndpoint, { params: { id } }),
    );
    if (json) showJson(cli, delivery);
    else showDeliveries(cli, [delivery]);
    return delivery.status === 'delivered' ? undefined : 1;
  },
});
