import type { Output } from '../../../../src/api/endpoint.ts';
import { lifecycleWebhooks } from '../../../../src/api/sandbox/lifecycle-webhooks.ts';
import type { Cli } from '../../../cli.ts';
import { showJson, showList } from '../../../ui/show.ts';
import { relativeTime } from '../../../ui/time.ts';
import { verb } from '../../../verb.ts';

type Delivery = Output<typeof lifecycleWebhooks.TestWebhookEndpoint>['delivery'];

/** `svc sandbox notify deliveries`. */
export const deliveries = verb<[id: string], { json?: true }>({
  configure: (command) =>
    command
      .argument('<id>', 'Id of an address (see: svc sandbox notify list)')
      .option('--json', 'Print JSON'),
  examples: ['svc sandbox notify deliveries whk_01k8...'],
  async run(cli, [id], { json }) {
    const client = await cli.client();
    const answer = await client.call(lifecycleWebhooks.ListWebhookDeliveries, { params: { id } });
    if (json) showJson(cli, answer.deliveries);
    else showDeliveries(cli, answer.deliveries);
    return undefined;
  },
});

/** Shows how deliveries went. */
export function showDeliveries(cli: Cli, rows: readonly Delivery[]): void {
  showList(cli, {
    rows,
    none: 'Nothing was sent yet.',
    columns: [
      { title: 'ID', text: ({ id }) => id },
      { title: 'WHEN', text: ({ createdAt }) => relativeTime(createdAt), raw: ({ createdAt }) => createdAt },
      { title: 'EVENT', text: ({ event }) => event },
      { title: 'STATUS', text: ({ status }) => status },
      { title: 'TRIES', text: ({ attempts }) => attempts.toString(), align: 'right' },
      { title: 'ANSWER', text: ({ responseStatus }) => responseStatus?.toString(), align: 'right' },
      { title: 'MS', text: ({ durationMs }) => durationMs, align: 'right' },
      { title: 'ERROR', text: ({ error }) => error },
    ],
  });
}
