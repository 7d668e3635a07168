import { lifecycleWebhooks } from '../../../../src/api/sandbox/lifecycle-webhooks.ts';
import { showJson, showList } from '../../../ui/show.ts';
import { relativeTime } from '../../../ui/time.ts';
import { verb } from '../../../verb.ts';

/** `svc sandbox notify list`. */
export const list = verb<[], { json?: true }>({
  configure: (command) => command.option('--json', 'Print JSON'),
  examples: ['svc sandbox notify list'],
  async run(cli, _, { json }) {
    const client = await cli.client();
    const { webhooks: rows } = await client.call(lifecycleWebhooks.ListWebhookEndpoints);
    if (json) {
      showJson(cli, rows);
      return undefined;
    }
    showList(cli, {
      rows,
      none: 'Nobody is told. Add an address: svc sandbox notify add https://example.com/hook',
      columns: [
        { title: 'ID', text: ({ id }) => id },
        { title: 'URL', text: ({ url }) => url },
        { title: 'EVENTS', text: ({ events }) => events.join(',') },
        {
          title: 'CREATED',
          text: ({ createdAt }) => relativeTime(createdAt),
          raw: ({ createdAt }) => createdAt,
        },
      ],
    });
    return undefined;
  },
});
